import { BoundedQueue } from "./bounded-queue.ts";
import { withTimeout } from "./deferred.ts";
import { AppError, errorMessage } from "./errors.ts";
import type { Log } from "./log.ts";
import type { QueueFigures, QueueOwner } from "./queue-metrics.ts";

interface BackgroundOptions {
  /** Tasks that run at once. */
  concurrency: number;
  /** Most tasks that may wait; more are refused. */
  waiting: number;
  /** Time after which a task is abandoned and reported, milliseconds. */
  timeoutMs: number;
  log: Log;
}

interface Task {
  name: string;
  work: () => Promise<void>;
}

/** Runs tasks after their caller was answered: their number is bounded, and failures are logged. */
export class Background implements QueueOwner {
  readonly #options: BackgroundOptions;
  readonly #waiting: BoundedQueue<Task>;
  readonly #running = new Set<Promise<void>>();
  #stopped = false;

  constructor(options: BackgroundOptions) {
    this.#options = options;
    this.#waiting = new BoundedQueue(options.waiting);
  }

  get queues(): readonly QueueFigures[] {
    const { size, capacity, refused } = this.#waiting;
    return [{ queue: "background", length: size, limit: capacity, refused }];
  }

  /** Starts a task. Throws `overloaded` when too many wait already, `unavailable` when stopping. */
  start(name: string, work: () => Promise<void>): void {
    if (this.#stopped) throw new AppError("unavailable", "The service is stopping.");
    if (!this.#waiting.offer({ name, work })) {
      throw new AppError("overloaded", "Too much is going on. Please try again.", {
        retryAfter: 5,
      });
    }
    // Started only after the caller continues, so that the caller's timing does not depend on the
    // task.
    setImmediate(() => this.#next());
  }

  /** Accepts no more tasks; resolves when all accepted ones are done or abandoned. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Resolves when no task runs or waits. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0 || this.#running.size > 0) {
      this.#next();
      await Promise.race(this.#running);
    }
  }

  #next(): void {
    if (this.#running.size >= this.#options.concurrency) return;
    const task = this.#waiting.take();
    if (task === undefined) return;
    const running = this.#run(task).finally(() => {
      this.#running.delete(running);
      this.#next();
    });
    this.#running.add(running);
  }

  async #run({ name, work }: Task): Promise<void> {
    const { log, timeoutMs } = this.#options;
    try {
      await withTimeout(work(), timeoutMs, name);
    } catch (error) {
      log.error({ work: name, error: errorMessage(error) }, "background work failed");
    }
  }
}
