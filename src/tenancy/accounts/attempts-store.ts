import { createHash } from "node:crypto";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";

/** Allows `burst` attempts at once and one more after each `interval` milliseconds. */
export interface AttemptPolicy {
  burst: number;
  interval: number;
}

const SWEEP_EVERY = 256;

const paidAtRow = z.object({ paid_at: z.coerce.number() });

/**
 * Attempt budgets in PostgreSQL, which limit guessing: a generic cell rate (GCRA) per key. A
 * restart forgets none, and all processes share them. Keys are stored as hashes only.
 */
export class AttemptStore {
  readonly #pool: DatabasePool;
  readonly #clock: Clock;
  #taken = 0;

  constructor(pool: DatabasePool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /**
   * Takes one attempt. Returns the seconds to wait when the budget is used up, undefined when the
   * attempt was granted.
   */
  async take(key: string, policy: AttemptPolicy): Promise<number | undefined> {
    const now = Math.floor(this.#clock.now());
    const keyHash = hashed(key);
    const latest = now + (policy.burst - 1) * policy.interval;
    const granted = await this.#pool.maybeOne(sql.type(paidAtRow)`
      insert into attempt_budgets as budget (key_hash, paid_at)
      values (${keyHash}, ${now + policy.interval})
      on conflict (key_hash) do update
        set paid_at = greatest(budget.paid_at, ${now}) + ${policy.interval}
        where budget.paid_at <= ${latest}
      returning paid_at`);
    await this.#sweepSometimes(now);
    if (granted !== null) return undefined;
    const used = await this.#pool.maybeOne(
      sql.type(paidAtRow)`select paid_at from attempt_budgets where key_hash = ${keyHash}`,
    );
    return Math.max(1, Math.ceil(((used?.paid_at ?? now) - latest) / 1000));
  }

  /** Gives one attempt back. */
  async refund(key: string, policy: AttemptPolicy): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update attempt_budgets set paid_at = paid_at - ${policy.interval}
      where key_hash = ${hashed(key)}`);
  }

  /** Makes the whole budget available again. */
  async restore(key: string): Promise<void> {
    await this.#pool.query(sql.unsafe`delete from attempt_budgets where key_hash = ${hashed(key)}`);
  }

  /** Deletes the rows of budgets that are whole again. */
  async #sweepSometimes(now: number): Promise<void> {
    this.#taken = (this.#taken + 1) % SWEEP_EVERY;
    if (this.#taken !== 0) return;
    await this.#pool.query(sql.unsafe`delete from attempt_budgets where paid_at < ${now}`);
  }
}

function hashed(key: string): ReturnType<typeof sql.binary> {
  return sql.binary(createHash("sha256").update(key).digest());
}
