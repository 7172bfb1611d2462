import { AppError } from "../../src/base/errors.ts";
import type { Recogniser } from "./recogniser.ts";

interface RecogniserPoolOptions {
  /** Most recognisers, in use and idle together. */
  size: number;
  /** How long `take` waits for a recogniser to be returned, milliseconds. */
  waitMs: number;
  /** Most waiting callers. */
  waiters: number;
  /** Time that more than one recogniser may stay idle, milliseconds; a minute by default. */
  keepMs?: number;
  /** Called after recognisers were closed, so that their memory can be returned to the system. */
  onShrunk?: () => void;
}

const KEEP_MS = 60_000;

interface Waiter {
  give: (recogniser: Recogniser) => void;
  refuse: (error: AppError) => void;
  timer: NodeJS.Timeout;
}

/**
 * A bounded number of reusable recognisers of one thread. While some are in use, one more is
 * created ahead, so that the next session need not wait for loading. Of idle ones only one is kept,
 * because each uses much memory.
 */
export class RecogniserPool {
  readonly #create: () => Promise<Recogniser>;
  readonly #options: RecogniserPoolOptions;
  readonly #idle: Recogniser[] = [];
  readonly #used = new Set<Recogniser>();
  readonly #waiting: Waiter[] = [];
  readonly #making = new Set<Promise<Recogniser>>();
  /** The recogniser that is being created ahead. */
  #spare: Promise<Recogniser> | undefined;
  /** Timer that runs while more than one is idle. */
  #shrinking: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(create: () => Promise<Recogniser>, options: RecogniserPoolOptions) {
    this.#create = create;
    this.#options = options;
  }

  /** Creates the first recogniser. Rejects with the reason when that fails. */
  async start(): Promise<void> {
    this.give(await this.#claim(this.#make()));
  }

  /**
   * Takes a recogniser in its initial state. Rejects with `overloaded` when none becomes free in
   * time.
   */
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

  /** Returns a recogniser; one that may be broken is closed instead of reused. */
  give(recogniser: Recogniser, broken = false): void {
    if (!this.#used.delete(recogniser)) return;
    if (broken || this.#closed) return recogniser.close();
    recogniser.restore();
    recogniser.dropVocabulary();
    const waiter = this.#waiting.shift();
    clearTimeout(waiter?.timer);
    if (recogniser.isWornOut?.() === true) {
      recogniser.close();
      if (waiter !== undefined) this.#claim(this.#make()).then(waiter.give, waiter.refuse);
      return;
    }
    if (waiter === undefined) return this.#keep(recogniser);
    this.#used.add(recogniser);
    waiter.give(recogniser);
  }

  /**
   * Closes recognisers that are idle or being created; those in use are closed when they are
   * returned.
   */
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
      // A failure is ignored here; the caller that needs the recogniser creates it again and gets
      // the error.
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

  /**
   * Marks the recogniser as in use as soon as it is created, so that it is counted at all times.
   */
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
