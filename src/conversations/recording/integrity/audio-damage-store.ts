import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Clock } from "../../../base/clock.ts";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../../postgres/outbox.ts";
import { AUDIO_DAMAGED } from "../../../session/status.ts";
import { enqueueWebhookEvent } from "../../../tenancy/webhooks/queue-store.ts";
import type { DamageKind, FileFacts } from "./file-damage.ts";
import type { HashedFile } from "./sha256.ts";
import { sharedDigestsOf } from "./stored-digests-store.ts";

/** Looks at most once in this time, milliseconds, however often health is asked. */
const EVERY_MS = 1_000;

/** How much stored audio of the whole service is damaged, as health and metrics tell it. */
export class AudioDamage {
  readonly #store: Pick<AudioDamageStore, "count">;
  readonly #clock: Pick<Clock, "monotonic">;
  #last: DamageCount = { chunks: 0, sessions: 0, recent: 0 };
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<AudioDamageStore, "count">, clock: Pick<Clock, "monotonic">) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Of the last poll. */
  get chunks(): number {
    return this.#last.chunks;
  }

  /** Looks, unless somebody just did. Rejects with `unavailable`. */
  async refresh(): Promise<DamageCount> {
    if (this.#clock.monotonic() - this.#lookedAt < EVERY_MS) return this.#last;
    this.#last = await this.#store.count();
    this.#lookedAt = this.#clock.monotonic();
    return this.#last;
  }
}

/** Health tells damage that was found within this time, days: older damage is known. */
const NEWS_DAYS = 7;

const factsRow = z.object({
  digests: optionalColumn(z.array(z.string())),
  bytes: z.number(),
  isSilenced: z.boolean(),
  wasSilenced: z.boolean(),
  isNoted: z.boolean(),
  mayBeDecoded: z.boolean(),
});
const notedRow = z.object({
  id: z.string(),
  sequence: z.number(),
  isRead: z.boolean(),
  at: z.number(),
});
const failedRow = z.object({
  id: z.string(),
  sequence: z.number(),
  start: z.number(),
  length: z.number(),
});
const countRow = z.object({ chunks: z.number(), sessions: z.number(), recent: z.number() });

/** A file of a session: chunks with the same bytes share it. */
export interface AudioFile {
  sessionId: string;
  /** SHA-256 in hex of what was sent; its name. */
  sha256: string;
}

/** Chunks whose stored audio is damaged now. */
interface DamageCount {
  chunks: number;
  sessions: number;
  /** Of the chunks, those whose damage was found in the last seven days. */
  recent: number;
}

/** What is on record about stored audio files and their damage. Throws `unavailable`. */
export class AudioDamageStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Undefined when no chunk of a session that is there names the file. */
  async facts({ sessionId, sha256 }: AudioFile): Promise<FileFacts | undefined> {
    const name = sql.fragment`decode(${sha256}, 'hex')`;
    const row = await this.#pool.maybeOne(sql.type(factsRow)`
      select ${sharedDigestsOf(sql.fragment`${sessionId}::uuid`, name)} as digests,
        max(c.bytes) as bytes, bool_or(c.silence_wanted > 0) as "isSilenced",
        bool_or(c.silence_done > 0) as "wasSilenced",
        bool_or(exists (
          select from damaged_audio d
          where d.session_id = c.session_id and d.sequence = c.sequence and d.mended_at is null
        )) as "isNoted",
        bool_or(c.media_type = 'audio/wav' and c.sample_rate = 16000) as "mayBeDecoded"
      from chunks c join sessions s on s.id = c.session_id and s.status <> 'deleted'
      where c.session_id = ${sessionId} and c.sha256 = ${name}
      having count(*) > 0`);
    if (row === null) return undefined;
    const { digests = [sha256], bytes, isSilenced, isNoted, wasSilenced, mayBeDecoded } = row;
    const isKnown = row.digests !== undefined;
    const known = { digests, bytes, isSilenced, isNoted, isKnown };
    if (isKnown) return { ...known, mayBeOther: "no" };
    const decoded = mayBeDecoded ? "decoded" : "no";
    return { ...known, mayBeOther: wasSilenced ? "silenced" : decoded };
  }

  /**
   * Notes that the file is damaged, and tells webhooks of chunks that had been read before; of the
   * others it is told when they are read. Returns how many chunks it is news of.
   */
  note({ sessionId, sha256 }: AudioFile, kind: DamageKind): Promise<number> {
    return this.#pool.transaction(async (tx) => {
      const noted = await tx.any(sql.type(notedRow)`
        with noted as (
          insert into damaged_audio (session_id, sequence, kind)
          select c.session_id, c.sequence, ${kind}
          from chunks c join sessions s on s.id = c.session_id and s.status <> 'deleted'
          where c.session_id = ${sessionId} and c.sha256 = decode(${sha256}, 'hex')
          on conflict (session_id, sequence) do update
            set kind = excluded.kind, found_at = now(), mended_at = null
            where damaged_audio.mended_at is not null
          returning sequence, found_at
        )
        select c.id, c.sequence, c.status = 'completed' as "isRead",
          (extract(epoch from n.found_at) * 1000)::float8 as at
        from noted n join chunks c on c.session_id = ${sessionId} and c.sequence = n.sequence`);
      for (const chunk of noted) if (chunk.isRead) await notifyWebhooks(tx, sessionId, chunk);
      return noted.length;
    });
  }

  /**
   * Notes that the file is whole again, and has its chunks read again that had failed because of it.
   * Returns the commands for that.
   *
   * @param other what it holds now, where that is not what was on record
   */
  mended(
    { sessionId, sha256 }: AudioFile,
    other?: { storedSha256: string; bytes: number },
  ): Promise<OutboxRow[]> {
    const isFile = sql.fragment`session_id = ${sessionId} and sha256 = decode(${sha256}, 'hex')`;
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`
        update damaged_audio set mended_at = now()
        where session_id = ${sessionId} and mended_at is null
          and sequence in (select sequence from chunks where ${isFile})`);
      if (other !== undefined) {
        await tx.query(sql.unsafe`
          update chunks set stored_sha256 = decode(${other.storedSha256}, 'hex'),
            next_sha256 = null, bytes = ${other.bytes}
          where ${isFile}`);
      }
      const failed = await tx.any(sql.type(failedRow)`
        select c.id, c.sequence, c.start_sample as start, c.length_samples as length
        from chunks c join sessions s on s.id = c.session_id and s.status <> 'deleted'
        where c.session_id = ${sessionId} and c.sha256 = decode(${sha256}, 'hex')
          and c.status = 'failed' and c.length_samples > 0 and (
            select e.payload ->> 'code' = ${AUDIO_DAMAGED} from events e
            where e.session_id = ${sessionId} and e.type = 'ChunkFailed'
              and (e.payload ->> 'sequence')::int = c.sequence
            order by e.seq desc limit 1)
        order by c.sequence`);
      const rows = failed.map(({ id, ...place }) =>
        outboxRow(sessionId, { type: "ChunkMended", chunkId: id, ...place }),
      );
      for (const row of rows) await writeOutbox(tx, row);
      return rows;
    });
  }

  /** Keeps the digest of a file of an earlier release, so that it is compared from now on. */
  async learn({ sessionId, sha256 }: AudioFile, found: HashedFile): Promise<void> {
    // One that is being silenced gets its digest with that.
    await this.#pool.query(sql.unsafe`
      update chunks set digest_known = true, stored_sha256 = decode(${found.sha256}, 'hex'),
        bytes = ${found.bytes}
      where session_id = ${sessionId} and sha256 = decode(${sha256}, 'hex')
        and stored_sha256 is null and next_sha256 is null and silence_wanted = silence_done`);
  }

  async count(): Promise<DamageCount> {
    return this.#pool.one(sql.type(countRow)`
      select count(*)::int as chunks, count(distinct session_id)::int as sessions,
        (count(*) filter (where found_at > now() - make_interval(days => ${NEWS_DAYS})))::int as recent
      from damaged_audio where mended_at is null`);
  }
}

async function notifyWebhooks(
  tx: CommonQueryMethods,
  sessionId: string,
  { id: chunk_id, sequence: chunk_sequence, at }: z.output<typeof notedRow>,
): Promise<void> {
  const data = { chunk_id, chunk_sequence, code: AUDIO_DAMAGED, status: "completed" };
  await enqueueWebhookEvent(tx, { sessionId, type: "chunk.failed", at, data });
}
