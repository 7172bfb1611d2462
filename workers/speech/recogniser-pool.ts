import { AppError } from "../../src/base/errors.ts";
import type { Recogniser } from "./recogniser.ts";

export interface RecogniserPoolOptions {
  /** Recognisers at most, in use and idle together. */
  size: number;
  /** How long `take` waits for one that is given back. */
  waitMs: number;
  /** Waiting callers at most. */
  waiters: number;
}

interface Waiter {
  give: (recogniser: Recogniser) => void;
  refuse: (error: AppError) => void;
  timer: NodeJS.Timeout;
}

/** A bounded number of recognisers of one thread, made when first needed and used again. */
export class RecogniserPool {
  readonly #create: () => Recogniser;
  readonly #options: RecogniserPoolOptions;
  readonly #idle: Recogniser[] = [];
  readonly #used = new Set<Recogniser>();
  readonly #waiting: Waiter[] = [];
  #closed = false;

  constructor(create: () => Recogniser, options: RecogniserPoolOptions) {
    this.#create = create;
    this.#options = options;
  }

  /** A recogniser in its initial state. Rejects with `overloaded` when none comes free in time. */
  take(): Promise<Recogniser> {
    if (this.#closed) return Promise.reject(new AppError("unavailable", "The worker is stopping."));
    const idle = this.#idle.pop();
    const total = this.#used.size + this.#idle.length;
    if (idle === undefined && total >= this.#options.size) return this.#wait();
    try {
      const recogniser = idle ?? this.#create();
      this.#used.add(recogniser);
      return Promise.resolve(recogniser);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Takes a recogniser back; one that may be broken is closed instead of used again. */
  give(recogniser: Recogniser, broken = false): void {
    if (!this.#used.delete(recogniser)) return;
    if (broken || this.#closed) return recogniser.close();
    recogniser.restore();
    const waiter = this.#waiting.shift();
    if (waiter === undefined) {
      this.#idle.push(recogniser);
      return;
    }
    clearTimeout(waiter.timer);
    this.#used.add(recogniser);
    waiter.give(recogniser);
  }

  /** Closes what is idle now, and what is in use when it is given back. */
  close(): void {
    this.#closed = true;
    for (const recogniser of this.#idle.splice(0)) recogniser.close();
    for (const waiter of this.#waiting.splice(0)) {
      clearTimeout(waiter.timer);
      waiter.refuse(new AppError("unavailable", "The worker is stopping."));
    }
  }

  #wait(): Promise<Recogniser> {
    const { size, waiters, waitMs } = this.#options;
    const busy = new AppError("overloaded", `All ${size} recognisers of this thread are in use.`);
    if (this.#waiting.length >= waiters) return Promise.reject(busy);
    return new Promise((give, refuse) => {
      const timer = setTimeout(() => {
        const at = this.#waiting.findIndex((waiter) => waiter.timer === timer);
        if (at >= 0) this.#waiting.splice(at, 1);
        refuse(busy);
      }, waitMs);
      this.#waiting.push({ give, refuse, timer });
    });
  }
}
