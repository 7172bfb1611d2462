import { createPgDriverFactory } from "@slonik/pg-driver";
import pg from "pg";
import { ConnectionError } from "slonik";
import { databaseHosts } from "../base/database-address.ts";
import { answered, type Driver, type DriverClient, type DriverSettings } from "./driver-client.ts";
import { READ_ONLY } from "./store-error.ts";

/** In force for each new transaction; `on` for a standby, whatever was set. */
const TAKES_CHANGES = "select current_setting('transaction_read_only') = 'off' as takes";

/** The server's own words, for one that answers but takes no changes. */
function readOnly(): ConnectionError {
  const cause = Object.assign(new Error("The server takes no changes."), { code: READ_ONLY });
  return new ConnectionError("The database's server is a standby, or read-only.", { cause });
}

/**
 * The servers that a database may be on. Of them one takes changes, and another after a
 * switchover: each connection is asked before it is used, and the one that was right last is tried
 * first. A name is looked up anew for each connection, so that one host whose name moves is enough.
 */
export class DatabaseServers {
  readonly #addresses: readonly string[];
  readonly #settings: DriverSettings;
  /** A driver asks its server for its types before it makes a connection. */
  readonly #drivers = new Map<string, Driver>();
  #last: string | undefined;

  constructor(addresses: readonly string[], settings: DriverSettings) {
    this.#addresses = addresses;
    this.#settings = settings;
  }

  /** Rejects when none of them can be reached. */
  async start(): Promise<void> {
    await this.#first((address) => this.#driver(address));
  }

  /** A connection that takes changes. Rejects with why the last one that was tried does not. */
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
    throw failure;
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

/** One that does not answer rejects. */
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
 * Of a database's address the one of its server that takes changes; where none of several does,
 * the first, whose refusal tells more than ours.
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
      // The next may be it.
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return first;
}
