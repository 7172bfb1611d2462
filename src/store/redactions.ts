import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { RedactedChunk, RedactionRecords } from "../jobs/audio-redaction.ts";
import { guarded } from "./store-error.ts";

const pendingRow = z.object({ sessionId: z.string(), redactionIds: z.array(z.string()) });

const chunkRow = z.object({
  sequence: z.number(),
  start: z.number(),
  mediaType: z.string(),
  blob: z.string(),
  spans: z.array(z.object({ from: z.number(), to: z.number() })),
});

/** Any constant of ours: with a session's hash it names the lock of its audio. */
const LOCK_CLASS = 72_031;

/** Redacted spans and the chunks that they touch. */
export class PostgresRedactions implements RedactionRecords {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  pending(limit: number): Promise<{ sessionId: string; redactionIds: string[] }[]> {
    return guarded(async () => [
      ...(await this.#pool.any(sql.type(pendingRow)`
        select session_id as "sessionId", array_agg(id::text) as "redactionIds"
        from redactions where audio_erased_at is null
        group by session_id order by min(created_at) limit ${limit}`)),
    ]);
  }

  chunks(sessionId: string): Promise<RedactedChunk[]> {
    return guarded(() => readChunks(this.#pool, sessionId, sql.fragment`true`));
  }

  exclusively(
    sessionId: string,
    sequence: number,
    work: (chunk: RedactedChunk) => Promise<void>,
  ): Promise<boolean> {
    return guarded(() =>
      this.#pool.transaction(async (tx) => {
        const { taken } = await tx.one(sql.type(z.object({ taken: z.boolean() }))`
          select pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(${sessionId})) as taken`);
        if (!taken) return false;
        const one = sql.fragment`c.sequence = ${sequence}`;
        for (const chunk of await readChunks(tx, sessionId, one)) await work(chunk);
        return true;
      }, 0),
    );
  }

  done(redactionIds: readonly string[]): Promise<void> {
    return guarded(async () => {
      await this.#pool.query(sql.unsafe`
        update redactions set audio_erased_at = now()
        where id = any(${sql.array([...redactionIds], "uuid")})`);
    });
  }
}

async function readChunks(
  connection: CommonQueryMethods,
  sessionId: string,
  which: ReturnType<typeof sql.fragment>,
): Promise<RedactedChunk[]> {
  const rows = await connection.any(sql.type(chunkRow)`
    select c.sequence, c.start_sample as start, c.media_type as "mediaType",
      encode(c.sha256, 'hex') as blob,
      jsonb_agg(jsonb_build_object('from', r.start_sample, 'to', r.end_sample)) as spans
    from chunks c
    join redactions r on r.session_id = c.session_id
      and r.start_sample < c.start_sample + c.length_samples
      and r.end_sample > c.start_sample
    where c.session_id = ${sessionId} and ${which}
    group by c.session_id, c.sequence order by c.sequence`);
  return [...rows];
}
