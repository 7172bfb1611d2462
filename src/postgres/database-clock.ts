import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Runtime, Timer } from "../base/runtime.ts";

const nowRow = z.object({ now: z.number() });
const LOOK_MS = 10_000;
/** An answer that took longer says too little about when it was given. */
const SLOW_MS = 2_000;

/**
 * The database's time in this process: what hosts with clocks that disagree compare and write is
 * of one origin. Goes on by the monotonic clock between two looks, and while the database is away.
 */
export class DatabaseClock {
  readonly #pool: DatabasePool;
  readonly #runtime: Runtime;
  /** Database time less monotonic time, milliseconds. */
  #offset = 0;
  #timer: Timer | undefined;

  constructor(pool: DatabasePool, runtime: Runtime) {
    this.#pool = pool;
    this.#runtime = runtime;
  }

  /** Rejects when the database does not answer. */
  async start(): Promise<void> {
    await this.look(Number.POSITIVE_INFINITY);
    this.#timer = this.#runtime.every(LOOK_MS, () => {
      // What is known goes on.
      void this.look().catch(() => undefined);
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Everything as the machine has it, but the time of day. */
  get runtime(): Runtime {
    return { ...this.#runtime, now: () => this.now() };
  }

  /** Unix milliseconds. */
  now(): number {
    return Math.round(this.#runtime.monotonic() + this.#offset);
  }

  async look(slowest = SLOW_MS): Promise<void> {
    const asked = this.#runtime.monotonic();
    const now = await this.#pool.oneFirst(sql.type(nowRow)`select clock_timestamp() as now`);
    const answered = this.#runtime.monotonic();
    if (answered - asked > slowest) return;
    this.#offset = now - (asked + answered) / 2;
  }
}
