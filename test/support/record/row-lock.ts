import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import type { Runtime, Timer } from "../../../src/base/runtime.ts";
import { databaseError } from "./database-error.ts";

/** As PostgreSQL's row locks, weakest first. */
export type LockMode = "key share" | "share" | "no key update" | "update";

const STRENGTH: Readonly<Record<LockMode, number>> = {
  "key share": 0,
  share: 1,
  "no key update": 2,
  update: 3,
};

/** Whether two transactions may not hold these at the same row at once. */
function conflicts(a: LockMode, b: LockMode): boolean {
  const [weak, strong] = [STRENGTH[a], STRENGTH[b]].sort((x, y) => x - y);
  if (strong === 3) return true;
  return strong === 2 && (weak ?? 0) >= 1;
}

/** A transaction, as far as locks know it. */
export interface Locker {
  /** What it waits for, while it waits. */
  waiting: { lock: RowLock; mode: LockMode } | undefined;
  readonly held: Set<RowLock>;
}

interface Waiting {
  locker: Locker;
  mode: LockMode;
  granted: Deferred<void>;
}

export interface LockTimes {
  runtime: Pick<Runtime, "after">;
  /** Milliseconds after which who waits looks whether a circle waits. */
  deadlockAfter: number;
  /** Milliseconds that its statement has left. */
  timeLeft: number;
}

/** The lock of one row: who holds it, and who waits, first come first served. */
export class RowLock {
  readonly #holders = new Map<Locker, LockMode>();
  #queue: Waiting[] = [];

  /** Undefined when it is held at once. Rejects with 40P01 or 57014. */
  take(locker: Locker, mode: LockMode, times: LockTimes): Promise<void> | undefined {
    if (this.tryTake(locker, mode)) return undefined;
    return this.#wait(locker, mode, times);
  }

  /** Whether it is held now. Who fits beside the holders passes those who wait, as in PostgreSQL. */
  tryTake(locker: Locker, mode: LockMode): boolean {
    if (!this.#fits(locker, mode)) return false;
    this.#hold(locker, mode);
    return true;
  }

  get isWanted(): boolean {
    return this.#queue.length > 0;
  }

  release(locker: Locker): void {
    this.#holders.delete(locker);
    this.#serve();
  }

  #fits(locker: Locker, mode: LockMode): boolean {
    for (const [holder, held] of this.#holders) {
      if (holder !== locker && conflicts(held, mode)) return false;
    }
    return true;
  }

  #hold(locker: Locker, mode: LockMode): void {
    const held = this.#holders.get(locker);
    if (held === undefined || STRENGTH[held] < STRENGTH[mode]) this.#holders.set(locker, mode);
    locker.held.add(this);
  }

  #wait(locker: Locker, mode: LockMode, times: LockTimes): Promise<void> {
    const waiting: Waiting = { locker, mode, granted: createDeferred() };
    // Who holds the row already goes before those who wait for him.
    if (this.#holders.has(locker)) this.#queue.unshift(waiting);
    else this.#queue.push(waiting);
    locker.waiting = { lock: this, mode };
    const timers: Timer[] = [
      times.runtime.after(times.timeLeft, () => this.#giveUp(waiting, "57014")),
      times.runtime.after(times.deadlockAfter, () => {
        if (isInCircle(locker)) this.#giveUp(waiting, "40P01");
      }),
    ];
    return waiting.granted.promise.finally(() => {
      for (const timer of timers) timer.cancel();
    });
  }

  #giveUp(waiting: Waiting, code: "57014" | "40P01"): void {
    this.#queue = this.#queue.filter((other) => other !== waiting);
    waiting.locker.waiting = undefined;
    waiting.granted.reject(databaseError(code));
    this.#serve();
  }

  /** Ends the wait of a transaction that is ended from outside. */
  forget(locker: Locker, error: Error): void {
    const waiting = this.#queue.find((other) => other.locker === locker);
    if (waiting === undefined) return;
    this.#queue = this.#queue.filter((other) => other !== waiting);
    locker.waiting = undefined;
    waiting.granted.reject(error);
    this.#serve();
  }

  #serve(): void {
    while (this.#queue[0] !== undefined) {
      const { locker, mode, granted } = this.#queue[0];
      if (!this.#fits(locker, mode)) return;
      this.#queue.shift();
      this.#hold(locker, mode);
      locker.waiting = undefined;
      granted.resolve();
    }
  }

  /** Who must end before this one goes on. */
  *blockersOf(locker: Locker, mode: LockMode): Iterable<Locker> {
    for (const [holder, held] of this.#holders) {
      if (holder !== locker && conflicts(held, mode)) yield holder;
    }
    for (const waiting of this.#queue) {
      if (waiting.locker === locker) return;
      if (conflicts(waiting.mode, mode)) yield waiting.locker;
    }
  }
}

function isInCircle(locker: Locker): boolean {
  const seen = new Set<Locker>();
  const open = [locker];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at.waiting === undefined) continue;
    for (const blocker of at.waiting.lock.blockersOf(at, at.waiting.mode)) {
      if (blocker === locker) return true;
      if (!seen.has(blocker)) {
        seen.add(blocker);
        open.push(blocker);
      }
    }
  }
  return false;
}
