import { rmSync } from "node:fs";
import { SERVICE_ROLE, withClient } from "../../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../../src/postgres/migrate.ts";
import {
  cloneTemplate,
  createTemplate,
  type PostgresAccess,
  startPostgres,
  type TestDatabase,
  templateUrl,
} from "../postgres.ts";
import { makeScratchFolder, sweepScratchFolders } from "../scratch-folder.ts";
import { installTime, SEARCH_PATH } from "./sql-clock.ts";

/** Real milliseconds after which who waits for a lock looks whether he waits in a circle. */
export const DEADLOCK_MS = 1;

/** A database whose time comes from files in a folder. */
export interface TimedDatabase extends TestDatabase {
  readonly timeFolder: string;
}

interface Place {
  access: PostgresAccess;
  timeFolder: string;
}

/** PostgreSQL for simulations: in memory, without a disk to wait for, and with their time. */
export class SimPostgres {
  /** For other processes that use it, too. */
  readonly place: Place;
  readonly #stop: () => Promise<void>;

  private constructor(place: Place, stop: () => Promise<void>) {
    this.place = place;
    this.#stop = stop;
  }

  static async start(): Promise<SimPostgres> {
    sweepScratchFolders();
    const server = await startPostgres({ inMemory: true });
    const timeFolder = makeScratchFolder("time", true);
    const stop = async (): Promise<void> => {
      await server.stop();
      rmSync(timeFolder, { recursive: true, force: true });
    };
    const { access } = server;
    try {
      await createTemplate(access, (ownerUrl) => migrate(ownerUrl, { serviceRole: SERVICE_ROLE }));
      await withClient(templateUrl(access), async (client) => {
        await installTime(client, timeFolder);
        await client.query(`alter role ${SERVICE_ROLE} set search_path = ${SEARCH_PATH}`);
        // Real time, and who waits in a circle is to find it out at once.
        await client.query(`alter system set deadlock_timeout = '${DEADLOCK_MS}ms'`);
        await client.query("select pg_reload_conf()");
      });
    } catch (error) {
      await stop();
      throw error;
    }
    return new SimPostgres({ access, timeFolder }, stop);
  }

  /** One that another process has started, and ends. */
  static at(place: Place): SimPostgres {
    return new SimPostgres(place, async () => {});
  }

  /** Each seed has its own. */
  async open(): Promise<TimedDatabase> {
    const { access, timeFolder } = this.place;
    return { ...(await cloneTemplate(access)), timeFolder };
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

/**
 * From now on the database's time is what it is told, for each new connection.
 *
 * @param superuserUrl of the same database
 */
export async function takeTime(
  database: TestDatabase,
  superuserUrl: string,
): Promise<TimedDatabase> {
  const timeFolder = makeScratchFolder("time", true);
  await withClient(superuserUrl, async (client) => {
    await installTime(client, timeFolder);
    const name = client.escapeIdentifier(client.database ?? "");
    await client.query(`alter database ${name} set search_path = ${SEARCH_PATH}`);
  });
  return {
    ...database,
    timeFolder,
    async drop() {
      await database.drop();
      rmSync(timeFolder, { recursive: true, force: true });
    },
  };
}
