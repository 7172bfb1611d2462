import { createDeferred, type Deferred, withTimeout } from "../deferred.ts";
import { AppError, isAppError } from "../errors.ts";
import { FairQueue } from "../fair-queue.ts";
import type { QueueFigures, QueueOwner } from "../queue-metrics.ts";
import { type Runtime, systemRuntime } from "../runtime.ts";

interface FairTurnsOptions {
  /** Its name among the metrics. */
  queue: string;
  /** What is done, as a sentence begins: "Reading the audio". */
  what: string;
  /** How much is done at once, and of it for one tenant. */
  atOnce: number;
  atOnceOfOne: number;
  /** How much may wait, and of it for one tenant. */
  waiting: { capacity: number; share: number };
  /** How long each waits at most, milliseconds. */
  longestWaitMs: number;
  /** After how many seconds who is refused may come again. */
  retryAfter: number;
  timers?: Pick<Runtime, "after">;
}

interface Turn {
  readonly tenant: string;
  readonly begun: Deferred<void>;
  state: "waiting" | "begun" | "given up";
}

/** The error for work that whoever asked for it does not wait for any more. */
export function abandoned(): AppError {
  return new AppError("unavailable", "Whoever asked for it has gone.");
}

/**
 * Work that is done a bounded number at once, for tenants in turn: who asks for much waits for itself,
 * and takes no other's turn. A tenant is the account that owns the workspace for which it is done.
 */
export class FairTurns implements QueueOwner {
  readonly #options: FairTurnsOptions;
  readonly #waiting: FairQueue<Turn>;
  readonly #running = new Map<string, number>();
  #count = 0;

  constructor(options: FairTurnsOptions) {
    this.#options = options;
    this.#waiting = new FairQueue(options.waiting);
  }

  get queues(): readonly QueueFigures[] {
    const { queue, atOnce } = this.#options;
    const { size, capacity, refused } = this.#waiting;
    return [{ queue, length: this.#count + size, limit: atOnce + capacity, refused }];
  }

  /**
   * Does the work when it is its turn. Rejects as the work does, and with `overloaded` when too much
   * waits, in all or for this tenant, or when it has waited too long.
   *
   * @param signal gives the turn up while it is waited for; rejects with `unavailable` then
   */
  async run<T>(tenant: string, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#begun(tenant, signal);
    try {
      return await work();
    } finally {
      this.#end(tenant);
    }
  }

  async #begun(tenant: string, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw abandoned();
    const turn: Turn = { tenant, begun: createDeferred<void>(), state: "waiting" };
    if (this.#count < this.#options.atOnce && this.#mayBegin(tenant)) return this.#begin(turn);
    this.#waiting.offer(tenant, turn)?.begun.reject(this.#refusal());
    const { longestWaitMs, what, timers = systemRuntime } = this.#options;
    const giveUp = (): void => turn.begun.reject(abandoned());
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      await withTimeout(turn.begun.promise, longestWaitMs, what, timers);
    } catch (error) {
      if (turn.state === "begun") this.#end(tenant);
      turn.state = "given up";
      // What waits for nobody keeps no room from others.
      this.#waiting.drop(tenant, turn);
      throw isAppError(error, "timeout") ? this.#refusal() : error;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  #refusal(): AppError {
    const { what, retryAfter } = this.#options;
    const message = `${what}: too much waits for it just now. Please retry.`;
    return new AppError("overloaded", message, { retryAfter });
  }

  #mayBegin(tenant: string): boolean {
    return (this.#running.get(tenant) ?? 0) < this.#options.atOnceOfOne;
  }

  #begin(turn: Turn): void {
    turn.state = "begun";
    this.#count += 1;
    this.#running.set(turn.tenant, (this.#running.get(turn.tenant) ?? 0) + 1);
    turn.begun.resolve();
  }

  #end(tenant: string): void {
    this.#count -= 1;
    const left = (this.#running.get(tenant) ?? 0) - 1;
    if (left > 0) this.#running.set(tenant, left);
    else this.#running.delete(tenant);
    while (this.#count < this.#options.atOnce) {
      const next = this.#waiting.take((holder) => this.#mayBegin(holder));
      if (next === undefined) return;
      if (next.state === "waiting") this.#begin(next);
    }
  }
}
