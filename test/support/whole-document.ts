import { asyncApiDocument } from "../../src/http/async-api.ts";
import { type ApiOptions, createRoutes } from "../../src/roles/routes.ts";

/** Stands for ports of routes that are looked at and never answer: all that it gives is another. */
function unused(): unknown {
  return new Proxy(() => {}, {
    get: (_target, name) => {
      if (name === "docs") return { asyncApi: asyncApiDocument };
      return typeof name === "symbol" ? undefined : unused();
    },
    apply: () => unused(),
  });
}

/** Every route of the interface, to look at and to print. */
export function allRoutes() {
  return createRoutes(unused() as ApiOptions);
}

/** A document as the service serves it, by the id of its route. */
export async function wholeDocument(id = "getOpenApi"): Promise<Record<string, unknown>> {
  const route = allRoutes().find((each) => each.id === id);
  const reply = await route?.handle({} as never, undefined);
  return JSON.parse(JSON.stringify(reply?.body));
}
