import type { Runtime } from "../../../src/base/runtime.ts";
import { databaseError } from "./database-error.ts";
import type { LockMode, LockTimes, RowLock } from "./row-lock.ts";
import type { Slot, Table } from "./table.ts";
import type { Transaction } from "./transaction.ts";

/** The server, as far as a statement needs it. */
export interface StatementServer {
  readonly commits: number;
  readonly runtime: Runtime;
  readonly deadlockAfter: number;
  advisory(name: string): RowLock;
}

/**
 * One statement: it sees what was committed when it began and what its own
 * transaction wrote, and rows that it locks as they are once it has the lock.
 */
export class Statement {
  readonly #server: StatementServer;
  readonly #transaction: Transaction;
  readonly #sees: number;
  readonly #deadline: number;

  constructor(server: StatementServer, transaction: Transaction, deadline: number) {
    this.#server = server;
    this.#transaction = transaction;
    this.#deadline = deadline;
    if (transaction.repeatable) transaction.sees ??= server.commits;
    this.#sees = transaction.sees ?? server.commits;
  }

  /** The next statement of a function of the database: it sees what was committed until now. */
  next(): Statement {
    return new Statement(this.#server, this.#transaction, this.#deadline);
  }

  /** Unix ms; the same throughout a transaction. */
  get now(): number {
    return this.#transaction.startedAt;
  }

  /** Unix ms: what time it is just now. */
  get clock(): number {
    return this.#server.runtime.now();
  }

  get sees(): number {
    return this.#sees;
  }

  get<R extends object>(table: Table<R>, key: string): R | undefined {
    return table.slot(key)?.seen(this.#transaction, this.#sees);
  }

  /** Of one session, or all. */
  all<R extends object>(table: Table<R>, group?: string): R[] {
    const rows: R[] = [];
    for (const slot of table.slots(group)) {
      const row = slot.seen(this.#transaction, this.#sees);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /**
   * The row as it is under the lock. Undefined where this statement sees none for which `where`
   * holds, which nobody waits for; and where it is gone, or other, once the lock is there.
   */
  async lock<R extends object>(
    table: Table<R>,
    key: string,
    mode: LockMode,
    where: (row: NoInfer<R>) => boolean = () => true,
  ): Promise<R | undefined> {
    this.#mayWrite();
    const slot = table.slot(key);
    const seen = slot?.seen(this.#transaction, this.#sees);
    if (slot === undefined || seen === undefined || !where(seen)) return undefined;
    await this.#take(slot, mode);
    const row = slot.newest(this.#transaction);
    return row !== undefined && where(row) ? row : undefined;
  }

  /** The same without waiting: undefined, too, when somebody has it. */
  lockNow<R extends object>(
    table: Table<R>,
    key: string,
    mode: LockMode,
    where: (row: NoInfer<R>) => boolean = () => true,
  ): R | undefined {
    this.#mayWrite();
    const slot = table.slot(key);
    const seen = slot?.seen(this.#transaction, this.#sees);
    if (slot === undefined || seen === undefined || !where(seen)) return undefined;
    if (!slot.lock.tryTake(this.#transaction, mode)) return undefined;
    const row = slot.newest(this.#transaction);
    return row !== undefined && where(row) ? row : undefined;
  }

  /** False when there is such a row already; waits for one who may be about to write it. */
  async insert<R extends object>(table: Table<R>, row: R): Promise<boolean> {
    const slot = table.slotFor(row);
    await this.#take(slot, "update");
    if (slot.newest(this.#transaction) !== undefined) return false;
    slot.write(this.#transaction, Object.freeze({ ...row }));
    return true;
  }

  /** Throws 23505 when there is such a row. */
  async insertNew<R extends object>(table: Table<R>, row: R): Promise<void> {
    if (!(await this.insert(table, row))) throw databaseError("23505");
  }

  /**
   * Changes the row of this key, by what it is under its lock, where `where` holds. Returns the
   * row as it is then; undefined without a change.
   */
  async update<R extends object, C extends Partial<R>>(
    table: Table<R>,
    key: string,
    change: (row: NoInfer<R>) => C,
    where?: (row: NoInfer<R>) => boolean,
  ): Promise<R | undefined> {
    const row = await this.lock(table, key, "no key update", where);
    if (row === undefined) return undefined;
    const next: R = Object.freeze({ ...row, ...change(row) });
    table.slot(key)?.write(this.#transaction, next);
    return next;
  }

  /** Changes the row with this one's key, which this statement has found to be there. */
  overwrite<R extends object>(table: Table<R>, row: R, change: NoInfer<Partial<R>>): void {
    const slot = table.slotFor(row);
    const newest = slot.newest(this.#transaction);
    if (newest === undefined) throw new Error(`There is no such row in ${table.name}.`);
    slot.write(this.#transaction, Object.freeze({ ...newest, ...change }));
  }

  /** Whether there was one. */
  async remove<R extends object>(
    table: Table<R>,
    key: string,
    where?: (row: NoInfer<R>) => boolean,
  ): Promise<boolean> {
    const row = await this.lock(table, key, "update", where);
    if (row !== undefined) table.slot(key)?.write(this.#transaction, undefined);
    return row !== undefined;
  }

  /** Those of a session for which it holds; returns how many. */
  async removeAll<R extends object>(
    table: Table<R>,
    group: string,
    where: (row: NoInfer<R>) => boolean = () => true,
  ): Promise<number> {
    let removed = 0;
    for (const row of this.all(table, group)) {
      if (await this.remove(table, table.keyOf(row), where)) removed += 1;
    }
    return removed;
  }

  /** Changes those of a session for which it holds, both before and under the lock. */
  async updateAll<R extends object, C extends Partial<R>>(
    table: Table<R>,
    group: string,
    where: (row: NoInfer<R>) => boolean,
    change: (row: NoInfer<R>) => C,
  ): Promise<void> {
    for (const row of this.all(table, group)) {
      await this.update(table, table.keyOf(row), change, where);
    }
  }

  /** A lock that is no row's: held until the transaction ends. */
  async advisory(name: string, wait = true): Promise<boolean> {
    const lock = this.#server.advisory(name);
    if (!wait) return lock.tryTake(this.#transaction, "update");
    await lock.take(this.#transaction, "update", this.#times());
    return true;
  }

  async #take<R>(slot: Slot<R>, mode: LockMode): Promise<void> {
    this.#mayWrite();
    const wait = slot.lock.take(this.#transaction, mode, this.#times());
    if (wait === undefined) return;
    await wait;
    this.#mayWrite();
  }

  #mayWrite(): void {
    if (this.#transaction.ended !== undefined) throw this.#transaction.ended;
    if (this.#transaction.readOnly) throw databaseError("25006");
  }

  #times(): LockTimes {
    const { runtime, deadlockAfter } = this.#server;
    return { runtime, deadlockAfter, timeLeft: Math.max(0, this.#deadline - runtime.monotonic()) };
  }
}
