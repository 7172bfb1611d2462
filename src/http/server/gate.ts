import { AppError } from "../../base/errors.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";

/** Lets at most `capacity` pieces of work run at once and refuses more: nobody queues. */
export class Gate implements QueueOwner {
  readonly #capacity: number;
  readonly #what: string;
  #running = 0;
  #refused = 0;

  constructor(capacity: number, what: string) {
    this.#capacity = capacity;
    this.#what = what;
  }

  get queues(): readonly QueueFigures[] {
    const queue = this.#what.replaceAll(" ", "_");
    return [{ queue, length: this.#running, limit: this.#capacity, refused: this.#refused }];
  }

  /** Throws `overloaded` when full; else there is one more until `leave`. */
  enter(): void {
    if (this.#running >= this.#capacity) {
      this.#refused += 1;
      throw new AppError("overloaded", `Too many ${this.#what} at once. Please try again.`, {
        retryAfter: 2,
      });
    }
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
  }

  /** Throws `overloaded` when full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
}
