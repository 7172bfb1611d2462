import type { ApiClient } from "../support/api-client.ts";
import { type SeededWorld, seedWorld } from "../support/seeded-world.ts";

/** A seeded world with what other services of the operator need. */
export interface FuzzWorld extends SeededWorld {
  /** Of the user's workspace, with every scope that gRPC asks for. */
  serviceKey: string;
}

/** Puts the ids of real things in the place of `known:…`. */
export function fillIn({ ids }: FuzzWorld, text: string): string {
  return text.replaceAll(/known:(\w+)/g, (_all, name: string) => ids[name] ?? MISSING);
}

const MISSING = "019c1234-5678-7abc-8def-000000000000";

const SCOPES = ["sessions:read", "sessions:write", "query"];

export async function seedFuzzWorld(
  client: ApiClient,
  root: { email: string; password: string },
): Promise<FuzzWorld> {
  const world = await seedWorld(client, root);
  const { status, text, body } = await client.call("POST", "/api-keys", {
    headers: { ...world.callers.user },
    body: { workspace_id: world.ids.workspace_id, name: "Fuzz", scopes: SCOPES },
  });
  if (status !== 201) throw new Error(`POST /api-keys: ${status} ${text}`);
  return { ...world, serviceKey: String(body.key) };
}
