import { readConfig } from "../../src/roles/config.ts";
import { createFeatures } from "../../src/roles/features.ts";
import type { AppContext } from "../../src/roles/shared.ts";
import { WORKER_KEY } from "./worker-key.ts";

const SETTINGS = {
  DATABASE_URL: "postgres://localhost/unused",
  NATS_URL: "nats://localhost",
  VOICE_BLOB_DIR: "unused",
  VOICE_KEYS: "unused",
  WORKER_KEY,
};

/** Stands for parts of routes that are looked at and never answer: all that it gives is another. */
function unused(): unknown {
  return new Proxy(() => {}, {
    get: (_target, name) => {
      if (name === "config") return readConfig(SETTINGS, "unused");
      return typeof name === "symbol" ? undefined : unused();
    },
    apply: () => unused(),
  });
}

/** Every route of the interface, to look at and to print. */
export function allRoutes() {
  return createFeatures(unused() as AppContext, unused() as Parameters<typeof createFeatures>[1])
    .routes;
}

/** A document as the service serves it, by the id of its route. */
export async function wholeDocument(id = "getOpenApi"): Promise<Record<string, unknown>> {
  const route = allRoutes().find((each) => each.id === id);
  const reply = await route?.handle({} as never, undefined);
  return JSON.parse(JSON.stringify(reply?.body));
}
