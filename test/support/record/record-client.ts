import type { Runtime } from "../../../src/base/runtime.ts";
import { guarded } from "../../../src/postgres/store-error.ts";
import { databaseError } from "./database-error.ts";
import type { Fate, Moods, Request } from "./moods.ts";
import type { RecordServer } from "./record-server.ts";
import type { Statement } from "./statement.ts";
import type { Transaction } from "./transaction.ts";

/** As the service's pool has them. */
const CONNECTIONS = 16;
const RETRIES = 2;
const SILENCE_MS = 17_000;

export type Work<T> = (statement: Statement) => Promise<T> | T;

/** A transaction as its client has it: one statement after the other. */
export interface Conversation {
  run<T>(body: Work<T>): Promise<T>;
}

export interface TransactionOptions {
  /** How often it is tried again when the database gave it up for another. */
  retries?: number;
  repeatable?: boolean;
  readOnly?: boolean;
}

export interface ClientParts {
  host: string;
  server: RecordServer;
  moods: Moods;
  /** Of the host: when it stands still nothing comes back to it. */
  runtime: Pick<Runtime, "delay">;
}

/**
 * The way of one process to the database, as its pool of connections behaves.
 * Rejects with what stores make of the database's errors.
 */
export class RecordClient {
  readonly #parts: ClientParts;
  readonly #open = new Set<Transaction>();
  readonly #queue: (() => void)[] = [];
  #free = CONNECTIONS;
  #isDead = false;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** A statement of its own. */
  query<T>(body: Work<T>): Promise<T> {
    return this.#retrying(RETRIES, () => this.#single(body));
  }

  transaction<T>(
    work: (conversation: Conversation) => Promise<T>,
    { retries = RETRIES, ...modes }: TransactionOptions = {},
  ): Promise<T> {
    return this.#retrying(retries, () => this.#converse(work, modes));
  }

  /** The process is gone: its transactions end, and nobody hears anything any more. */
  kill(): void {
    this.#isDead = true;
    for (const transaction of this.#open) {
      if (!this.#parts.server.isBusy(transaction)) this.#sever(transaction);
    }
  }

  #retrying<T>(retries: number, work: () => Promise<T>): Promise<T> {
    return guarded(async () => {
      for (let left = retries; ; left -= 1) {
        try {
          return await this.#connected(work);
        } catch (error) {
          const code = (error as { code?: unknown }).code;
          if (left <= 0 || typeof code !== "string" || !code.startsWith("40")) throw error;
        }
      }
    });
  }

  async #connected<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  async #single<T>(body: Work<T>): Promise<T> {
    const { server } = this.#parts;
    return this.#ask("single", undefined, async ({ readOnly }) => {
      const transaction = server.begin({ readOnly });
      const result = await server.execute(transaction, body);
      server.commit(transaction);
      return result;
    });
  }

  async #converse<T>(
    work: (conversation: Conversation) => Promise<T>,
    modes: { repeatable?: boolean; readOnly?: boolean },
  ): Promise<T> {
    const { server } = this.#parts;
    const transaction = await this.#ask("begin", undefined, ({ readOnly }) =>
      server.begin({ ...modes, readOnly: readOnly || modes.readOnly === true }),
    );
    this.#open.add(transaction);
    try {
      const result = await work({
        run: (body) => this.#ask("statement", transaction, () => server.execute(transaction, body)),
      });
      await this.#ask("commit", transaction, () => server.commit(transaction));
      return result;
    } catch (error) {
      if (transaction.ended === undefined) {
        await this.#ask("rollback", transaction, () => {
          server.rollback(transaction, databaseError("25P02"));
        });
      }
      throw error;
    } finally {
      this.#open.delete(transaction);
    }
  }

  /** There and back again, with all that may happen on the way. */
  async #ask<T>(
    request: Request,
    transaction: Transaction | undefined,
    act: (fate: Fate) => Promise<T> | T,
  ): Promise<T> {
    const { host, server, moods, runtime } = this.#parts;
    const fate = moods.fate(host, request);
    if (fate.stall > 0) await runtime.delay(fate.stall);
    await this.#reach(transaction);
    await server.runtime.delay(fate.there);
    const answer = await this.#settle(fate, transaction, act);
    if (this.#isDead) {
      if (transaction !== undefined) this.#sever(transaction);
      return new Promise(() => {});
    }
    await this.#reach(transaction);
    await runtime.delay(fate.back);
    if ("error" in answer) throw answer.error;
    return answer.value;
  }

  /** Throws when the other end cannot be reached: at once, or when nothing was heard for long. */
  async #reach(transaction: Transaction | undefined): Promise<void> {
    const { host, moods, runtime } = this.#parts;
    if (this.#isDead) return new Promise(() => {});
    const { reach } = moods.of(host);
    if (reach === "open") return;
    if (reach === "silent") {
      // The server knows nothing of it, and waits.
      await runtime.delay(SILENCE_MS);
      throw databaseError("08006");
    }
    this.#sever(transaction);
    throw databaseError("ECONNREFUSED");
  }

  async #settle<T>(
    fate: Fate,
    transaction: Transaction | undefined,
    act: (fate: Fate) => Promise<T> | T,
  ): Promise<{ value: T } | { error: unknown }> {
    const { server } = this.#parts;
    try {
      if (fate.fault === "lost") throw this.#broken(transaction);
      if (fate.fault === "timed out") await this.#timeOut(transaction);
      if (fate.fault === "deadlocked") throw this.#gaveUp(transaction, "40P01");
      const value = await act(fate);
      if (fate.fault === "unknown") throw this.#broken(transaction);
      return { value };
    } catch (error) {
      if (transaction?.ended === undefined && isDatabases(error) && transaction !== undefined) {
        server.rollback(transaction, databaseError("25P02"));
      }
      return { error };
    }
  }

  async #timeOut(transaction: Transaction | undefined): Promise<never> {
    const { server } = this.#parts;
    transaction?.idle?.cancel();
    await server.runtime.delay(server.statementTimeout);
    throw this.#gaveUp(transaction, "57014");
  }

  #gaveUp(transaction: Transaction | undefined, code: "57014" | "40P01"): Error {
    if (transaction !== undefined) {
      this.#parts.server.rollback(transaction, databaseError("25P02"));
    }
    return databaseError(code);
  }

  #broken(transaction: Transaction | undefined): Error {
    this.#sever(transaction);
    return databaseError("08006");
  }

  #sever(transaction: Transaction | undefined): void {
    if (transaction === undefined) return;
    this.#parts.server.rollback(transaction, databaseError("08006"));
  }
}

function isDatabases(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}
