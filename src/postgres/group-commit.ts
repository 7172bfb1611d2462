import { createDeferred, type Deferred } from "../base/deferred.ts";
import { AppError, isAppError } from "../base/errors.ts";
import type { QueueFigures } from "../base/queue-metrics.ts";

/** Most writes that may wait; far more than one transaction takes. */
const MAX_WAITING = 20_000;

interface Waiting<T, R> {
  item: T;
  done: Deferred<R>;
}

/**
 * Writes items in one transaction. Resolves to results in the order of the items, or rejects for
 * all.
 */
type WriteGroup<T, R> = (items: readonly T[]) => Promise<PromiseSettledResult<R>[]>;

/**
 * Groups writes: those that come while one transaction runs go into the next one together, so that
 * many writers share one flush of the disk. Order is kept. Each caller gets the result of its own
 * write: a group that fails is written again in halves, down to the item at fault, unless the
 * failure is an outage.
 */
export class GroupCommit<T, R = void> {
  readonly #write: WriteGroup<T, R>;
  readonly #limit: number;
  #waiting: Waiting<T, R>[] = [];
  /** Items of the groups that are being written. */
  #underWay = 0;
  #running = false;
  #refused = 0;

  constructor(write: WriteGroup<T, R>, limit: number) {
    this.#write = write;
    this.#limit = limit;
  }

  figures(queue: string): QueueFigures {
    const length = this.#waiting.length + this.#underWay;
    return { queue, length, limit: MAX_WAITING, refused: this.#refused };
  }

  /** Settles when the item is durable. Rejects with `overloaded` when too many wait. */
  add(item: T): Promise<R> {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#refused += 1;
      return Promise.reject(new AppError("overloaded", "Too much audio waits to be stored."));
    }
    const done = createDeferred<R>();
    this.#waiting.push({ item, done });
    if (!this.#running) void this.#run();
    return done.promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Writes that come in the same turn are grouped.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#limit);
      this.#underWay = group.length;
      await this.#writeGroup(group);
      this.#underWay = 0;
    }
    this.#running = false;
  }

  async #writeGroup(group: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#write(group.map(({ item }) => item));
      for (const [index, { done }] of group.entries()) settle(done, results[index]);
    } catch (error) {
      if (group.length === 1 || isOutage(error)) {
        for (const { done } of group) done.reject(error);
        return;
      }
      const middle = group.length >> 1;
      await this.#writeGroup(group.slice(0, middle));
      await this.#writeGroup(group.slice(middle));
    }
  }
}

/** True for failures that affect all items alike: further attempts would only add load. */
function isOutage(error: unknown): boolean {
  return isAppError(error) && error.retryable;
}

function settle<R>(done: Deferred<R>, result: PromiseSettledResult<R> | undefined): void {
  if (result?.status === "fulfilled") done.resolve(result.value);
  else done.reject(result?.reason ?? new Error("A write was forgotten."));
}
