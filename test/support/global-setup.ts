import type { TestProject } from "vitest/node";
import { SERVICE_ROLE } from "../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { startNats } from "./nats.ts";
import { createTemplate, type PostgresAccess, startPostgres } from "./postgres.ts";
import { sweepScratchFolders } from "./scratch-folder.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgres: PostgresAccess;
    nats: { url: string; token: string };
  }
}

/** One PostgreSQL with a migrated template database and one nats-server for the whole run. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  sweepScratchFolders();
  const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  const stop = async () => {
    await Promise.all([postgres.stop(), nats.stop()]);
  };
  try {
    await createTemplate(postgres.access, (ownerUrl) =>
      migrate(ownerUrl, { serviceRole: SERVICE_ROLE }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide("postgres", postgres.access);
  project.provide("nats", { url: nats.url, token: nats.token });
  return stop;
}
