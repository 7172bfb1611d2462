import { AppError } from "../../src/base/errors.ts";
import type { Recogniser } from "./recogniser.ts";

interface RecogniserPoolOptions {
  /** Recognisers at most, in use and idle together. */
  size: number;
  /** How long `take` waits for one that is given back. */
  waitMs: number;
  /** Waiting callers at most. */
  waiters: number;
  /** How long more than one may be idle, milliseconds; a minute unless told. */
  keepMs?: number;
  /** Some were closed that may be needed again: for giving back what they held. */
  onShrunk?: () => void;
}

const KEEP_MS = 60_000;

interface Waiter {
  give: (recogniser: Recogniser) => void;
  refuse: (error: AppError) => void;
  timer: NodeJS.Timeout;
}

/**
 * A bounded number of recognisers of one thread, used again and again. While some are in use one
 * more is made ahead, so that the next session need not wait until it is loaded. Of those that stay
 * idle one is kept: each holds much memory.
 */
export class RecogniserPool {
  readonly #create: () => Promise<Recogniser>;
  readonly #options: RecogniserPoolOptions;
  readonly #idle: Recogniser[] = [];
  readonly #used = new Set<Recogniser>();
  readonly #waiting: Waiter[] = [];
  readonly #making = new Set<Promise<Recogniser>>();
  /** Of those being made, the one that nobody asked for yet. */
  #spare: Promise<Recogniser> | undefined;
  /** Since when more than one are idle. */
  #shrinking: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(create: () => Promise<Recogniser>, options: RecogniserPoolOptions) {
    this.#create = create;
    this.#options = options;
  }

  /** Makes the first one. Rejects with why that cannot be. */
  async start(): Promise<void> {
    this.give(await this.#claim(this.#make()));
  }

  /** A recogniser in its initial state. Rejects with `overloaded` when none comes free in time. */
  async take(): Promise<Recogniser> {
    if (this.#closed) throw stopping();
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      this.#used.add(idle);
      this.#makeAhead();
      this.#watchIdle();
      return idle;
    }
    const made = this.#spare ?? (this.#hasRoom ? this.#make() : undefined);
    this.#spare = undefined;
    if (made === undefined) return this.#wait();
    const recogniser = await this.#claim(made);
    this.#makeAhead();
    return recogniser;
  }

  /** Takes a recogniser back; one that may be broken is closed instead of used again. */
  give(recogniser: Recogniser, broken = false): void {
    if (!this.#used.delete(recogniser)) return;
    if (broken || this.#closed) return recogniser.close();
    recogniser.restore();
    const waiter = this.#waiting.shift();
    if (waiter === undefined) return this.#keep(recogniser);
    clearTimeout(waiter.timer);
    this.#used.add(recogniser);
    waiter.give(recogniser);
  }

  /** Closes what is idle or being made, and what is in use when it is given back. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const recogniser of this.#idle.splice(0)) recogniser.close();
    this.#watchIdle();
    for (const waiter of this.#waiting.splice(0)) {
      clearTimeout(waiter.timer);
      waiter.refuse(stopping());
    }
    await Promise.allSettled(this.#making);
  }

  #keep(recogniser: Recogniser): void {
    if (this.#closed) return recogniser.close();
    this.#idle.push(recogniser);
    this.#watchIdle();
  }

  #watchIdle(): void {
    if (this.#idle.length > 1) {
      this.#shrinking ??= setTimeout(() => this.#shrink(), this.#options.keepMs ?? KEEP_MS);
      this.#shrinking.unref();
      return;
    }
    clearTimeout(this.#shrinking);
    this.#shrinking = undefined;
  }

  #shrink(): void {
    this.#shrinking = undefined;
    for (const recogniser of this.#idle.splice(1)) recogniser.close();
    this.#options.onShrunk?.();
  }

  get #hasRoom(): boolean {
    const total = this.#used.size + this.#idle.length + this.#making.size;
    return total < this.#options.size;
  }

  #makeAhead(): void {
    if (this.#closed || this.#spare !== undefined) return;
    if (this.#idle.length > 0 || !this.#hasRoom) return;
    const spare = this.#make();
    this.#spare = spare;
    const isWanted = (): boolean => {
      if (this.#spare !== spare) return false;
      this.#spare = undefined;
      this.#making.delete(spare);
      return true;
    };
    spare.then(
      (recogniser) => {
        if (isWanted()) this.#keep(recogniser);
      },
      // Whoever needs it makes it again, and hears why it cannot be.
      () => isWanted(),
    );
  }

  #make(): Promise<Recogniser> {
    const made = this.#create().then((recogniser) => {
      if (!this.#closed) return recogniser;
      recogniser.close();
      throw stopping();
    });
    this.#making.add(made);
    return made;
  }

  /** In use as soon as it is made: at no moment it counts for nothing. */
  async #claim(made: Promise<Recogniser>): Promise<Recogniser> {
    try {
      const recogniser = await made;
      this.#used.add(recogniser);
      return recogniser;
    } finally {
      this.#making.delete(made);
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

function stopping(): AppError {
  return new AppError("unavailable", "The worker is stopping.");
}
