import { withTimeout } from "../deferred.ts";
import type { QueueFigures, QueueOwner } from "../queue-metrics.ts";
import type { Runtime } from "../runtime.ts";
import { PeriodicTask, type PeriodicTaskOptions } from "./periodic-task.ts";

interface QueueRunnerOptions<Item> extends Pick<PeriodicTaskOptions, "every" | "trouble" | "log"> {
  /** Its name among the metrics. */
  queue: string;
  /** Most items that are worked on at once. */
  atOnce: number;
  /** Most items of one claim; as many as there is room for unless given. */
  page?: number;
  /** The next items that are due, which nobody else works on meanwhile. */
  claim(limit: number): Promise<readonly Item[]>;
  /** Works on one, and records how that went. Never rejects. `signal` is aborted when it is to give the item back. */
  work(item: Item, signal: AbortSignal): Promise<void>;
  /** Time that items under way have left when the runner stops, milliseconds; none unless given. */
  graceMs?: number;
  runtime: Pick<Runtime, "delay" | "monotonic" | "after">;
}

/**
 * Works off a queue that the record keeps: claims what is due, as much as there is room for, looks again as soon
 * as an item is done, and else at intervals or when it is woken. The queue decides on order, leases and retries.
 */
export class QueueRunner<Item> implements QueueOwner {
  readonly #options: QueueRunnerOptions<Item>;
  readonly #polls: PeriodicTask;
  readonly #underWay = new Set<Promise<void>>();
  readonly #giveBack = new AbortController();

  constructor(options: QueueRunnerOptions<Item>) {
    this.#options = options;
    this.#polls = new PeriodicTask({ ...options, run: () => this.#poll() });
  }

  get queues(): readonly QueueFigures[] {
    const { queue, atOnce: limit } = this.#options;
    return [{ queue, length: this.#underWay.size, limit, refused: 0 }];
  }

  start(): void {
    this.#polls.start();
  }

  /** Looks for work at once. */
  wake(): void {
    this.#polls.wake();
  }

  /** Claims nothing more; resolves when what is under way has ended, or was given back. */
  async stop(): Promise<void> {
    const { graceMs = 0, queue, runtime } = this.#options;
    const idle = this.#polls.stop().then(() => Promise.all(this.#underWay));
    await withTimeout(idle, graceMs, queue, runtime).catch(() => this.#giveBack.abort());
    await idle;
  }

  async #poll(): Promise<number | undefined> {
    const { atOnce, page = atOnce, claim, work } = this.#options;
    const limit = Math.min(page, atOnce - this.#underWay.size);
    // The end of one wakes it.
    if (limit === 0) return undefined;
    const items = await claim(limit);
    for (const item of items) {
      const done = work(item, this.#giveBack.signal).finally(() => {
        this.#underWay.delete(done);
        this.wake();
      });
      this.#underWay.add(done);
    }
    return items.length === limit ? 0 : undefined;
  }
}
