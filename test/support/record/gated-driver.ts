import type { Runtime, Timer } from "../../../src/base/runtime.ts";
import type { DriverFactory } from "../../../src/postgres/driver-client.ts";
import { databaseError } from "./database-error.ts";
import type { Fate, Moods, Request } from "./moods.ts";
import type { SqlGate } from "./sql-gate.ts";

type Client = Awaited<ReturnType<Awaited<ReturnType<DriverFactory>>["createClient"]>>;
type Answer = Awaited<ReturnType<Client["query"]>>;

const SILENCE_MS = 17_000;
const STATEMENT_TIMEOUT = 15_000;
const IDLE_IN_TRANSACTION = 5_000;

export interface GatedHost {
  name: string;
  gate: SqlGate;
  moods: Moods;
  /** Of the database's machine. */
  database: Runtime;
  /** Of the host: when it stands still nothing comes back to it. */
  runtime: Pick<Runtime, "delay">;
  isDead(): boolean;
  /** Processes at the server of the host's connections, and when each connection is gone. */
  pids: Map<number, Promise<void>>;
}

/** A pool's driver whose every request goes through the gate, with the moods on the way. */
export function gatedDriver(host: GatedHost): (driver: DriverFactory) => DriverFactory {
  return (create) => async (settings) => {
    const driver = await create(settings);
    const open = async (): Promise<Client> => {
      const client = await driver.createClient();
      client.acquire();
      const { rows } = await client.query("select pg_backend_pid() as pid");
      await client.release();
      return new GatedConnection(host, client, Number(rows[0]?.pid)).client;
    };
    // Nobody is there any more to whom one that is opened could be given.
    const createClient = (): Promise<Client> =>
      host.isDead() ? new Promise(() => {}) : host.gate.open(open);
    return { createClient };
  };
}

class GatedConnection {
  readonly client: Client;
  readonly #host: GatedHost;
  readonly #steady: Client;
  readonly #pid: number;
  readonly #gone: Promise<void>;
  #inTransaction = false;
  /** Gives a transaction up in which nothing comes any more. */
  #idle: Timer | undefined;

  constructor(host: GatedHost, steady: Client, pid: number) {
    this.#host = host;
    this.#steady = steady;
    this.#pid = pid;
    this.#gone = new Promise((resolve) => steady.on("destroy", resolve));
    host.pids.set(pid, this.#gone);
    steady.on("destroy", () => host.pids.delete(pid));
    this.client = {
      ...steady,
      query: (text, values) => this.#query(text, values),
      // Its end is real, too, which may come as it is given back.
      release: () => host.gate.open(() => steady.release()),
      destroy: () => host.gate.open(() => steady.destroy()),
    };
  }

  async #query(text: string, values?: unknown[]): Promise<Answer> {
    const { name, moods, database, runtime } = this.#host;
    const request = requestOf(text, this.#inTransaction);
    const fate = moods.fate(name, request);
    if (fate.stall > 0) await runtime.delay(fate.stall);
    await this.#reach();
    await database.delay(fate.there);
    this.#idle?.cancel();
    const answer = await this.#settle(fate, request, text, values);
    this.#inTransaction = request === "begin" || request === "statement";
    if (this.#inTransaction) this.#rest();
    await this.#reach();
    await runtime.delay(fate.back);
    if ("error" in answer) throw answer.error;
    return answer.value;
  }

  async #settle(
    fate: Fate,
    request: Request,
    text: string,
    values?: unknown[],
  ): Promise<{ value: Answer } | { error: unknown }> {
    const { gate, database } = this.#host;
    try {
      if (fate.fault === "lost") throw await this.#broken();
      if (fate.fault === "timed out") await database.delay(STATEMENT_TIMEOUT);
      if (fate.fault === "timed out") throw await this.#fail("57014");
      if (fate.fault === "deadlocked") throw await this.#fail("40P01");
      const value = await gate.run(this.#pid, () => this.#ask(fate, request, text, values));
      if (fate.fault === "unknown") throw await this.#broken();
      return { value };
    } catch (error) {
      return { error };
    }
  }

  async #ask(fate: Fate, request: Request, text: string, values?: unknown[]): Promise<Answer> {
    const steady = this.#steady;
    const { gate } = this.#host;
    if (request === "single") gate.clock.end(this.#pid);
    if (request === "single" && fate.readOnly) {
      await steady.query("set default_transaction_read_only = on");
      try {
        return await steady.query(text, values);
      } finally {
        await steady.query("set default_transaction_read_only = off");
      }
    }
    const answer = await steady.query(text, values);
    if (request === "begin") {
      gate.clock.begin(this.#pid, gate.time);
      // No query, which would have to come after what is said of the transaction.
      if (fate.readOnly) await steady.query("set transaction read only");
    }
    return answer;
  }

  /** The server itself gives the statement up, and its transaction with it. */
  #fail(code: "57014" | "40P01"): Promise<unknown> {
    const raise = `do $$ begin raise exception using errcode = '${code}'; end $$`;
    return this.#host.gate.run(this.#pid, () =>
      this.#steady.query(raise).then(
        () => new Error("It was to fail."),
        (error: unknown) => error,
      ),
    );
  }

  async #broken(): Promise<Error> {
    await this.#host.gate.terminate(this.#pid, this.#gone);
    return databaseError("08006");
  }

  #rest(): void {
    const { database, gate } = this.#host;
    this.#idle = database.after(IDLE_IN_TRANSACTION, () => {
      void gate.terminate(this.#pid, this.#gone);
    });
  }

  /** Throws when the other end cannot be reached: at once, or when nothing was heard for long. */
  async #reach(): Promise<void> {
    const { name, moods, runtime, isDead } = this.#host;
    if (isDead()) return new Promise(() => {});
    const { reach } = moods.of(name);
    if (reach === "open") return;
    if (reach === "silent") await runtime.delay(SILENCE_MS);
    throw await this.#broken();
  }
}

function requestOf(text: string, inTransaction: boolean): Request {
  if (text === "START TRANSACTION") return "begin";
  if (text === "COMMIT") return "commit";
  if (text === "ROLLBACK") return "rollback";
  return inTransaction ? "statement" : "single";
}
