import { AppError } from "../base/errors.ts";

/** Lets at most `capacity` pieces of work run at once and refuses more: nobody queues. */
export class Gate {
  readonly #capacity: number;
  readonly #what: string;
  #running = 0;

  constructor(capacity: number, what: string) {
    this.#capacity = capacity;
    this.#what = what;
  }

  /** Throws `overloaded` when full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#capacity) {
      throw new AppError("overloaded", `Too many ${this.#what} at once. Please try again.`, {
        retryAfter: 2,
      });
    }
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }
}
