import { BoundedQueue } from "./bounded-queue.ts";
import { withTimeout } from "./deferred.ts";
import { AppError, errorMessage } from "./errors.ts";
import type { Log } from "./log.ts";
import type { QueueFigures, QueueOwner } from "./queue-metrics.ts";

interface BackgroundOptions {
  /** Pieces of work at once. */
  concurrency: number;
  /** How many may wait; more are refused. */
  waiting: number;
  /** Milliseconds after which a piece is given up and reported. */
  timeoutMs: number;
  log: Log;
}

interface Piece {
  name: string;
  work: () => Promise<void>;
}

/** Work that goes on after its caller was answered: bounded, reported when it fails. */
export class Background implements QueueOwner {
  readonly #options: BackgroundOptions;
  readonly #waiting: BoundedQueue<Piece>;
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

  /** Throws `overloaded` when too much waits already. */
  start(name: string, work: () => Promise<void>): void {
    if (this.#stopped) throw new AppError("unavailable", "The service is stopping.");
    if (!this.#waiting.offer({ name, work })) {
      throw new AppError("overloaded", "Too much is going on. Please try again.", {
        retryAfter: 5,
      });
    }
    // Never before the caller goes on, so that what it does takes the same time whatever the work.
    setImmediate(() => this.#next());
  }

  /** Takes no more, and resolves when all that was taken is done or given up. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0 || this.#running.size > 0) {
      this.#next();
      await Promise.race(this.#running);
    }
  }

  #next(): void {
    if (this.#running.size >= this.#options.concurrency) return;
    const piece = this.#waiting.take();
    if (piece === undefined) return;
    const running = this.#run(piece).finally(() => {
      this.#running.delete(running);
      this.#next();
    });
    this.#running.add(running);
  }

  async #run({ name, work }: Piece): Promise<void> {
    const { log, timeoutMs } = this.#options;
    try {
      await withTimeout(work(), timeoutMs, name);
    } catch (error) {
      log.error({ work: name, error: errorMessage(error) }, "background work failed");
    }
  }
}
