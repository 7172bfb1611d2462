import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../postgres/columns.ts";
import { leadOf } from "./audio-parts-store.ts";
import type { ChunkName, RedactedChunk, RedactionRecords } from "./redaction.ts";

const pendingRow = z.object({ sessionId: z.string(), sequence: z.number() });

const chunkRow = z.object({
  sequence: z.number(),
  start: z.number(),
  length: z.number(),
  mediaType: z.string(),
  blob: z.string(),
  wanted: z.number(),
  lead: optionalColumn(z.instanceof(Buffer)),
  spans: z.array(z.object({ from: z.number(), to: z.number() })),
});

/** An arbitrary constant: together with a session's hash it is the key of the lock of its audio. */
const LOCK_CLASS = 72_031;

/** Chunks with redacted spans in PostgreSQL. */
export class PostgresRedactions implements RedactionRecords {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async pending(limit: number, after?: ChunkName): Promise<ChunkName[]> {
    const beyond =
      after === undefined
        ? sql.fragment`true`
        : sql.fragment`(session_id, sequence) > (${after.sessionId}::uuid, ${after.sequence})`;
    return [
      ...(await this.#pool.any(sql.type(pendingRow)`
        select session_id as "sessionId", sequence from chunks
        where silence_wanted > silence_done and ${beyond}
        order by session_id, sequence limit ${limit}`)),
    ];
  }

  exclusively(
    { sessionId, sequence }: ChunkName,
    work: (chunk: RedactedChunk) => Promise<number>,
  ): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      const { taken } = await tx.one(sql.type(z.object({ taken: z.boolean() }))`
        select pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(${sessionId})) as taken`);
      if (!taken) return false;
      const read = await readChunk(tx, sessionId, sequence);
      if (read === undefined) return false;
      const { wanted, ...chunk } = read;
      const bytes = await work(chunk);
      await tx.query(sql.unsafe`
        update chunks set silence_done = ${wanted}, bytes = ${bytes}
        where session_id = ${sessionId} and sequence = ${sequence}`);
      // What began in the chunk before is in this one's file now, as far as it is to be heard.
      await tx.query(sql.unsafe`
        update audio_parts set carry = ''
        where session_id = ${sessionId} and sequence = ${sequence - 1} and carry is not null`);
      return true;
    }, 0);
  }
}

/** Undefined when the chunk was deleted. */
async function readChunk(connection: CommonQueryMethods, sessionId: string, sequence: number) {
  const row = await connection.maybeOne(sql.type(chunkRow)`
    select c.sequence, c.start_sample as start,
      case when c.media_type like '%;piece' then ${leadOf(
        sql.fragment`c.session_id`,
        sql.fragment`c.sequence`,
      )} end as lead, c.length_samples as length,
      c.media_type as "mediaType", encode(c.sha256, 'hex') as blob, c.silence_wanted as wanted,
      coalesce(
        jsonb_agg(jsonb_build_object('from', r.start_sample, 'to', r.end_sample))
          filter (where r.id is not null), '[]') as spans
    from chunks c
    left join redactions r on r.session_id = c.session_id
      and r.start_sample < c.start_sample + c.length_samples
      and r.end_sample > c.start_sample
    where c.session_id = ${sessionId} and c.sequence = ${sequence}
    group by c.session_id, c.sequence`);
  return row ?? undefined;
}
