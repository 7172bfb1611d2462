import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Runtime, Timer } from "../base/runtime.ts";

const nowRow = z.object({ now: z.number() });
const POLL_MS = 10_000;
/** An answer that took longer says too little about the time at which it was given. */
const SLOW_MS = 2_000;

/**
 * The database's time in this process, so that hosts whose clocks disagree compare and write times
 * of one clock. Between two polls, and while the database is away, it continues by the monotonic
 * clock.
 */
export class DatabaseClock {
  readonly #pool: DatabasePool;
  readonly #runtime: Runtime;
  /** Database time minus monotonic time, milliseconds. */
  #offset = 0;
  #timer: Timer | undefined;

  constructor(pool: DatabasePool, runtime: Runtime) {
    this.#pool = pool;
    this.#runtime = runtime;
  }

  /** Rejects when the database does not answer. */
  async start(): Promise<void> {
    await this.sync(Number.POSITIVE_INFINITY);
    this.#timer = this.#runtime.every(POLL_MS, () => {
      // The known offset continues to hold.
      void this.sync().catch(() => undefined);
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** A runtime whose `now` is this clock. */
  get runtime(): Runtime {
    return { ...this.#runtime, now: () => this.now() };
  }

  /** The database's time, Unix milliseconds. */
  now(): number {
    return Math.round(this.#runtime.monotonic() + this.#offset);
  }

  async sync(slowest = SLOW_MS): Promise<void> {
    const asked = this.#runtime.monotonic();
    const now = await this.#pool.oneFirst(sql.type(nowRow)`select clock_timestamp() as now`);
    const answered = this.#runtime.monotonic();
    if (answered - asked > slowest) return;
    this.#offset = now - (asked + answered) / 2;
  }
}
