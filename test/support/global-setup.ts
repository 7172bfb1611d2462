import type { TestProject } from "vitest/node";
import { SERVICE_ROLE } from "../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { startNats, type TestNats } from "./nats.ts";
import {
  createTemplate,
  type PostgresAccess,
  startPostgres,
  type TestPostgres,
} from "./postgres.ts";
import { sweepScratchFolders } from "./scratch-folder.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgres: PostgresAccess;
    nats: { url: string; token: string };
  }
}

interface Servers {
  readonly postgres: TestPostgres;
  readonly nats: TestNats;
}

interface Shared {
  users: number;
  readonly servers: Promise<Servers>;
}

/** vitest loads this module once for each project, so what they share stands outside of it. */
const SHARED = Symbol.for("voice.test-servers");
const holder = globalThis as { [SHARED]?: Shared };

/** One PostgreSQL with a migrated template database and one nats-server for all projects of a run. */
export default async function useServers(project: TestProject): Promise<() => Promise<void>> {
  holder[SHARED] ??= { users: 0, servers: startServers() };
  const shared = holder[SHARED];
  shared.users += 1;
  const { postgres, nats } = await shared.servers;
  project.provide("postgres", postgres.access);
  project.provide("nats", { url: nats.url, token: nats.token });
  return async () => {
    shared.users -= 1;
    if (shared.users === 0) await stopServers({ postgres, nats });
  };
}

async function startServers(): Promise<Servers> {
  sweepScratchFolders();
  const [postgres, nats] = await Promise.all([startPostgres({ inMemory: true }), startNats()]);
  try {
    await createTemplate(postgres.access, (ownerUrl) =>
      migrate(ownerUrl, { serviceRole: SERVICE_ROLE }),
    );
  } catch (error) {
    await stopServers({ postgres, nats });
    throw error;
  }
  return { postgres, nats };
}

async function stopServers({ postgres, nats }: Servers): Promise<void> {
  delete holder[SHARED];
  await Promise.all([postgres.stop(), nats.stop()]);
}
