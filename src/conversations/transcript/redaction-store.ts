import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../postgres/optional-column.ts";
import {
  noteNextFile,
  noteSilence,
  noteStoredFile,
  sharedDigestsOf,
} from "../recording/integrity/stored-digests-store.ts";
import { leadOf } from "./audio-parts-store.ts";
import type { ChunkName, RedactedChunk, RedactionRecords, SilencedFile } from "./redaction.ts";

const pendingRow = z.object({ sessionId: z.string(), sequence: z.number() });

const chunkRow = z.object({
  sequence: z.number(),
  start: z.number(),
  length: z.number(),
  mediaType: z.string(),
  blob: z.string(),
  wanted: z.number(),
  lead: optionalColumn(z.instanceof(Buffer)),
  digests: optionalColumn(z.array(z.string())),
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

  async exclusively(
    name: ChunkName,
    work: (chunk: RedactedChunk) => Promise<SilencedFile>,
  ): Promise<boolean> {
    const noted = await this.#locked(name.sessionId, async (tx) => {
      const read = await readChunk(tx, name);
      if (read === undefined) return undefined;
      const { wanted, ...chunk } = read;
      const file = await work(chunk);
      const silenced = { ...name, wanted, blob: chunk.blob, file };
      if (file.replace === undefined || file.sha256 === undefined) {
        await file.replace?.();
        await noteSilenced(tx, silenced);
        return "done";
      }
      // On record before the file is replaced, so that no crash leaves a file that nobody knows.
      await noteNextFile(tx, { ...name, blob: chunk.blob, sha256: file.sha256 });
      return silenced;
    });
    if (noted === undefined || noted === "done") return noted === "done";
    const replaced = await this.#locked(name.sessionId, async (tx) => {
      // Somebody else may have come to another result meanwhile, and has replaced the file then.
      if (!(await isNext(tx, noted))) return undefined;
      await noted.file.replace?.();
      await noteSilenced(tx, noted);
      return true;
    });
    return replaced === true;
  }

  /** Undefined when another process is working on this session. */
  #locked<T>(
    sessionId: string,
    work: (tx: CommonQueryMethods) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    return this.#pool.transaction(async (tx) => {
      const { taken } = await tx.one(sql.type(z.object({ taken: z.boolean() }))`
        select pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(${sessionId})) as taken`);
      return taken ? work(tx) : undefined;
    }, 0);
  }
}

/** A chunk whose file is, or is to be, silent as far as `wanted` says. */
interface Silenced extends ChunkName {
  wanted: number;
  blob: string;
  file: SilencedFile;
}

function isNext(tx: CommonQueryMethods, { sessionId, sequence, file }: Silenced): Promise<boolean> {
  return tx.exists(sql.unsafe`
    select from chunks where session_id = ${sessionId} and sequence = ${sequence}
      and next_sha256 = decode(${file.sha256 ?? ""}, 'hex')`);
}

async function noteSilenced(
  tx: CommonQueryMethods,
  { sessionId, sequence, wanted, blob, file: { bytes, sha256 } }: Silenced,
): Promise<void> {
  await noteSilence(tx, { sessionId, sequence, wanted, bytes });
  if (sha256 !== undefined) await noteStoredFile(tx, { sessionId, blob, sha256, bytes });
  // What began in the chunk before is in this one's file now, as far as it is to be heard.
  await tx.query(sql.unsafe`
    update audio_parts set carry = ''
    where session_id = ${sessionId} and sequence = ${sequence - 1} and carry is not null`);
}

/** Undefined when the chunk was deleted. */
async function readChunk(connection: CommonQueryMethods, { sessionId, sequence }: ChunkName) {
  const row = await connection.maybeOne(sql.type(chunkRow)`
    select c.sequence, c.start_sample as start,
      case when c.media_type like '%;piece' then ${leadOf(
        sql.fragment`c.session_id`,
        sql.fragment`c.sequence`,
      )} end as lead, c.length_samples as length,
      c.media_type as "mediaType", encode(c.sha256, 'hex') as blob, c.silence_wanted as wanted,
      ${sharedDigestsOf(sql.fragment`c.session_id`, sql.fragment`c.sha256`)} as digests,
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
