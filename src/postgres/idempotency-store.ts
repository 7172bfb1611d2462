import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { newId } from "../base/ids.ts";
import type {
  IdempotencyEntry,
  IdempotencyStore,
  IdempotencyVerdict,
} from "../rest/idempotency.ts";

const SWEEP_EVERY = 128;
const SWEEP_ROWS = 1_000;

const attemptRow = z.object({ attempt: z.string() });
const keptRow = z.object({
  fingerprint: z.instanceof(Buffer),
  answer: z.instanceof(Buffer).nullable(),
});

/**
 * Idempotency keys in PostgreSQL: one row per key, whose primary key decides which request runs.
 */
export class PostgresIdempotencyStore implements IdempotencyStore {
  readonly #pool: DatabasePool;
  #begun = 0;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async begin(entry: IdempotencyEntry): Promise<IdempotencyVerdict> {
    await this.#sweepSometimes();
    const attempt = newId();
    const taken = await this.#pool.maybeOne(sql.type(attemptRow)`
      insert into idempotency_keys as kept (key_hash, attempt, fingerprint, expires_at)
      values (${sql.binary(entry.keyHash)}, ${attempt}, ${sql.binary(entry.fingerprint)},
        now() + interval '60 seconds')
      on conflict (key_hash) do update
        set attempt = excluded.attempt, fingerprint = excluded.fingerprint,
          session_id = null, answer = null, expires_at = excluded.expires_at
        where kept.expires_at <= now()
      returning attempt`);
    if (taken !== null) return { kind: "run", attempt };
    return this.#verdict(entry);
  }

  async finish(
    keyHash: Buffer,
    attempt: string,
    answer: Buffer,
    sessionId: string | undefined,
  ): Promise<void> {
    const session = sessionId ?? null;
    await this.#pool.transaction(async (transaction) => {
      // A deletion needs the same lock: an answer stored before it is deleted with the session, and
      // a later one is not stored.
      const rows = await transaction.any(sql.type(z.object({ status: z.string() }))`
        select status from sessions where id = ${session}::uuid for share`);
      if (rows.some(({ status }) => status === "deleted")) {
        await transaction.query(forget(keyHash, attempt));
        return;
      }
      await transaction.query(sql.unsafe`
        update idempotency_keys
        set answer = ${sql.binary(answer)}, session_id = ${session}::uuid,
          expires_at = now() + interval '24 hours'
        where key_hash = ${sql.binary(keyHash)} and attempt = ${attempt}`);
    });
  }

  async release(keyHash: Buffer, attempt: string): Promise<void> {
    await this.#pool.query(forget(keyHash, attempt));
  }

  async #verdict({ keyHash, fingerprint }: IdempotencyEntry): Promise<IdempotencyVerdict> {
    const row = await this.#pool.maybeOne(sql.type(keptRow)`
      select fingerprint, answer from idempotency_keys where key_hash = ${sql.binary(keyHash)}`);
    // The key was freed meanwhile; the caller's next attempt will run.
    if (row === null) return { kind: "running" };
    if (!row.fingerprint.equals(fingerprint)) return { kind: "mismatch" };
    return row.answer === null ? { kind: "running" } : { kind: "answered", answer: row.answer };
  }

  async #sweepSometimes(): Promise<void> {
    this.#begun = (this.#begun + 1) % SWEEP_EVERY;
    if (this.#begun !== 0) return;
    await this.#pool.query(sql.unsafe`
      delete from idempotency_keys where key_hash in (
        select key_hash from idempotency_keys where expires_at <= now()
        order by expires_at limit ${SWEEP_ROWS} for update skip locked)`);
  }
}

function forget(keyHash: Buffer, attempt: string) {
  return sql.unsafe`
    delete from idempotency_keys
    where key_hash = ${sql.binary(keyHash)} and attempt = ${attempt}`;
}
