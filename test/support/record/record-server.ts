import type { Runtime } from "../../../src/base/runtime.ts";
import { databaseError } from "./database-error.ts";
import { RecordTables } from "./record-tables.ts";
import { RowLock } from "./row-lock.ts";
import { Statement } from "./statement.ts";
import { Transaction } from "./transaction.ts";

export interface ServerTimes {
  /** Milliseconds, as the service's pool asks for them. */
  statementTimeout: number;
  idleInTransaction: number;
  deadlockAfter: number;
}

const TIMES: ServerTimes = {
  statementTimeout: 15_000,
  idleInTransaction: 5_000,
  deadlockAfter: 1_000,
};

/**
 * A database in memory at the level of rows: read committed, row locks that are
 * waited for in turn, deadlocks and time-outs as PostgreSQL has them. What runs
 * between two waits is one step.
 */
export class RecordServer {
  readonly tables = new RecordTables();
  readonly runtime: Runtime;
  readonly #times: ServerTimes;
  readonly #advisory = new Map<string, RowLock>();
  readonly #looking = new Set<Statement>();
  readonly #repeatable = new Set<Transaction>();
  readonly #busy = new Set<Transaction>();
  /** Transactions that write are refused, as on a standby. */
  readOnly = false;
  /** How many transactions wrote something. */
  commits = 0;

  constructor(runtime: Runtime, times: Partial<ServerTimes> = {}) {
    this.runtime = runtime;
    this.#times = { ...TIMES, ...times };
  }

  get deadlockAfter(): number {
    return this.#times.deadlockAfter;
  }

  get statementTimeout(): number {
    return this.#times.statementTimeout;
  }

  advisory(name: string): RowLock {
    const lock = this.#advisory.get(name) ?? new RowLock();
    this.#advisory.set(name, lock);
    return lock;
  }

  /** How many statements wait for a lock. */
  get waiting(): number {
    return [...this.#busy].filter(({ waiting }) => waiting !== undefined).length;
  }

  begin(modes: { repeatable?: boolean; readOnly?: boolean } = {}): Transaction {
    const readOnly = this.readOnly || modes.readOnly === true;
    const transaction = new Transaction(this.runtime.now(), { ...modes, readOnly });
    if (transaction.repeatable) this.#repeatable.add(transaction);
    this.#rest(transaction);
    return transaction;
  }

  /** What goes wrong in a statement ends its transaction. */
  async execute<T>(
    transaction: Transaction,
    body: (statement: Statement) => Promise<T> | T,
  ): Promise<T> {
    if (transaction.ended !== undefined) throw transaction.ended;
    transaction.idle?.cancel();
    this.#busy.add(transaction);
    const deadline = this.runtime.monotonic() + this.#times.statementTimeout;
    const statement = new Statement(this, transaction, deadline);
    this.#looking.add(statement);
    try {
      const result = await body(statement);
      if (transaction.ended !== undefined) throw transaction.ended;
      return result;
    } catch (error) {
      this.rollback(transaction, databaseError("25P02"));
      throw error;
    } finally {
      this.#busy.delete(transaction);
      this.#looking.delete(statement);
      if (transaction.ended === undefined) this.#rest(transaction);
    }
  }

  isBusy(transaction: Transaction): boolean {
    return this.#busy.has(transaction);
  }

  commit(transaction: Transaction): void {
    if (transaction.ended !== undefined) throw transaction.ended;
    if (transaction.written.size > 0) {
      this.commits += 1;
      const oldest = this.#oldestSeen();
      for (const slot of transaction.written) slot.commit(this.commits, oldest);
    }
    this.#end(transaction, databaseError("25P02"));
  }

  /** `why`: what its client hears that goes on with it. */
  rollback(transaction: Transaction, why: Error): void {
    if (transaction.ended !== undefined) return;
    for (const slot of transaction.written) slot.undo();
    this.#end(transaction, why);
  }

  #end(transaction: Transaction, why: Error): void {
    transaction.ended = why;
    transaction.idle?.cancel();
    transaction.written.clear();
    this.#repeatable.delete(transaction);
    transaction.waiting?.lock.forget(transaction, why);
    const held = [...transaction.held];
    transaction.held.clear();
    for (const lock of held) lock.release(transaction);
  }

  /** One that stands still and holds its locks is given up after a while. */
  #rest(transaction: Transaction): void {
    transaction.idle = this.runtime.after(this.#times.idleInTransaction, () =>
      this.rollback(transaction, databaseError("25P03")),
    );
  }

  #oldestSeen(): number {
    let oldest = this.commits;
    for (const { sees } of this.#looking) oldest = Math.min(oldest, sees);
    for (const { sees = oldest } of this.#repeatable) oldest = Math.min(oldest, sees);
    return oldest;
  }
}
