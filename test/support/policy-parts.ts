import { join } from "node:path";
import pg from "pg";
import { type RunningApp, startApp } from "../../src/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { readConfig } from "../../src/roles/config.ts";
import { type KeyMaterial, loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { startNats, type TestNats } from "./nats.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { WORKER_KEY } from "./worker-key.ts";

/** A running service of both roles, and what lies under it. */
export interface PolicyParts {
  folder: string;
  database: TestDatabase;
  nats: TestNats;
  pool: pg.Pool;
  keys: KeyMaterial;
  app: RunningApp;
}

/** `given`: a migrated database in place of an empty one; `env`: settings besides the usual. */
export async function openPolicyParts(
  given?: TestDatabase,
  env: Readonly<Record<string, string>> = {},
): Promise<PolicyParts> {
  const folder = makeScratchFolder("policy");
  const [database, nats] = await Promise.all([given ?? createTestDatabase(), startNats()]);
  const pool = new pg.Pool({ connectionString: database.serviceUrl, max: 4 });
  // The pool's end does not wait for its connections, which the drop of the database then breaks.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const keyFolder = join(folder, "keys");
  const keys = await loadKeyFolder(keyFolder);
  const config = readConfig(
    {
      DATABASE_URL: database.serviceUrl,
      NATS_URL: nats.url,
      NATS_TOKEN: nats.token,
      VOICE_BLOB_DIR: join(folder, "blobs"),
      VOICE_KEY_DIR: keyFolder,
      WORKER_KEY,
      PORT: "0",
      RATE_LIMIT_FACTOR: "0",
      // A stop need not spread clients over time: there is nowhere else to go.
      DRAIN_MS: "0",
      // The tests' server forgets with the power, so that it is quick.
      ALLOW_UNSAFE_DATABASE: "1",
      ...env,
    },
    "policy",
  );
  return { folder, database, nats, pool, keys, app: await startApp(config, "1.0.0", silentLog) };
}
