import { createPgDriverFactory } from "@slonik/pg-driver";
import pg from "pg";
import { ConnectionError } from "slonik";
import { databaseHosts } from "../base/database-address.ts";
import { errorMessage } from "../base/errors.ts";
import { answered, type Driver, type DriverClient, type DriverSettings } from "./driver-client.ts";
import { READ_ONLY, sqlState } from "./store-error.ts";

/** Tests whether the server takes changes; a standby answers `on`, whatever its settings. */
const TAKES_CHANGES = "select current_setting('transaction_read_only') = 'off' as takes";

/** The error of a server that answers but takes no changes, with the server's own SQLSTATE. */
function readOnly(): ConnectionError {
  const cause = Object.assign(new Error("The server takes no changes."), { code: READ_ONLY });
  return new ConnectionError("The database's server is a standby, or read-only.", { cause });
}

/**
 * The servers that a database may run on. One of them takes changes, and another one after a
 * switchover: each connection is tested before it is used, and the last good server is tried first.
 * Names are resolved again for each connection, so one host whose name moves is enough.
 */
export class DatabaseServers {
  readonly #addresses: readonly string[];
  readonly #settings: DriverSettings;
  /** A driver queries its server's types before it makes a connection. */
  readonly #drivers = new Map<string, Driver>();
  #last: string | undefined;

  constructor(addresses: readonly string[], settings: DriverSettings) {
    this.#addresses = addresses;
    this.#settings = settings;
  }

  /** Rejects when no server can be reached. */
  async start(): Promise<void> {
    await this.#first((address) => this.#driver(address));
  }

  /**
   * Makes a connection that takes changes. Rejects with the error of the last server that was
   * tried.
   */
  connect(silenceTimeout: number): Promise<DriverClient> {
    return this.#first(async (address) => {
      const driver = await this.#driver(address);
      const client = await driver.createClient();
      if (await takesChanges(client, silenceTimeout)) return client;
      void client.destroy().catch(() => undefined);
      throw readOnly();
    });
  }

  async #first<T>(attempt: (address: string) => Promise<T>): Promise<T> {
    let failure: unknown;
    const last = this.#last;
    const others = this.#addresses.filter((each) => each !== last);
    for (const address of last === undefined ? others : [last, ...others]) {
      try {
        const made = await attempt(address);
        this.#last = address;
        return made;
      } catch (error) {
        failure = error;
      }
    }
    if (sqlState(failure) !== undefined) throw failure;
    // The driver's own has no code, for example, when a server does not answer in time.
    throw new ConnectionError(errorMessage(failure), { cause: failure as Error });
  }

  async #driver(connectionUri: string): Promise<Driver> {
    const known = this.#drivers.get(connectionUri);
    if (known !== undefined) return known;
    const { driverConfiguration } = this.#settings;
    const driver = await createPgDriverFactory()({
      ...this.#settings,
      driverConfiguration: { ...driverConfiguration, connectionUri },
    });
    this.#drivers.set(connectionUri, driver);
    return driver;
  }
}

/** Rejects when the server does not answer. */
async function takesChanges(client: DriverClient, silenceTimeout: number): Promise<boolean> {
  const giveUp = (): void => void client.destroy().catch(() => undefined);
  client.acquire();
  try {
    const { rows } = await answered(client.query(TAKES_CHANGES), silenceTimeout, giveUp);
    await client.release();
    return rows[0]?.takes === true;
  } catch (error) {
    giveUp();
    throw error;
  }
}

/**
 * The address of the server that takes changes, of those that a database's address lists. If none
 * does, the first one, whose refusal explains more than our own error.
 */
export async function primaryAddress(address: string): Promise<string> {
  const hosts = databaseHosts(address);
  const [first = address] = hosts;
  if (hosts.length === 1) return first;
  for (const connectionString of hosts) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ takes: boolean }>(TAKES_CHANGES);
      if (rows[0]?.takes === true) return connectionString;
    } catch {
      // The next server may take changes.
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return first;
}
