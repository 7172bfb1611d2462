import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { LivePiece } from "../api/stream-pieces.ts";
import { SESSION_RATE } from "../base/sample-rate.ts";
import type { AudioSource, PlacedChunk, StoredCheckpoint } from "../inference/audio-source.ts";
import type { Suspect } from "../session/suspect.ts";
import { guarded } from "./store-error.ts";
import { activeCharacterNames } from "./workshop-characters.ts";

const chunkRow = z.object({
  sequence: z.number(),
  start: z.number(),
  length: z.number(),
  samples: z.number(),
  mediaType: z.string(),
  sha256: z.string(),
});

/** True until a stream says otherwise. */
const WANTS_INTERIM = sql.fragment`coalesce((a.settings->>'interim')::boolean, true)`;
const interimRow = z.object({ interim: z.boolean() });
const pieceRow = z.object({
  piece: z.number(),
  mediaType: z.string(),
  sampleRate: z.number(),
  frames: z.number(),
  startFrame: z.number(),
  startByte: z.number(),
  data: z.instanceof(Buffer),
  interim: z.boolean(),
});
const suspectRow = z.object({ sequence: z.number(), breaks: z.number(), position: z.number() });

const checkpointRow = z.object({
  position: z.number(),
  recogniser: z.instanceof(Buffer),
  speakers: z.instanceof(Buffer),
  voices: z.record(z.string(), z.number()).nullable(),
});

/** What a reading needs, from the chunks and checkpoints tables and the blob folder. */
export class SessionAudio implements AudioSource {
  readonly #pool: DatabasePool;
  readonly #read: (sessionId: string, sha256: string) => Promise<Buffer>;

  constructor(pool: DatabasePool, read: (sessionId: string, sha256: string) => Promise<Buffer>) {
    this.#pool = pool;
    this.#read = read;
  }

  bytes(sessionId: string, sha256: string): Promise<Buffer> {
    return this.#read(sessionId, sha256);
  }

  vocabulary(sessionId: string): Promise<string[]> {
    return guarded(async () => {
      const row = z.object({ vocabulary: z.array(z.string()) });
      const found = await this.#pool.maybeOneFirst(sql.type(row)`
        select vocabulary from sessions where id = ${sessionId}`);
      const names = await activeCharacterNames(this.#pool, sessionId);
      return [...new Set([...(found ?? []), ...names])];
    });
  }

  placed(sessionId: string, fromSequence: number, limit: number): Promise<PlacedChunk[]> {
    return guarded(async () => {
      const rows = await this.#pool.any(sql.type(chunkRow)`
        select sequence, start_sample as start, length_samples as length,
               frames::int8 * ${SESSION_RATE}::int / sample_rate as samples,
               media_type as "mediaType", encode(sha256, 'hex') as sha256
        from chunks
        where session_id = ${sessionId} and sequence >= ${fromSequence}
          and start_sample is not null
        order by sequence limit ${limit}`);
      return [...rows];
    });
  }

  wantsInterim(sessionId: string): Promise<boolean> {
    return guarded(async () => {
      const row = await this.#pool.maybeOne(sql.type(interimRow)`
        select ${WANTS_INTERIM} as interim from audio_streams a where session_id = ${sessionId}`);
      return row?.interim ?? true;
    });
  }

  pieces(sessionId: string, sequence: number, piece: number, limit: number): Promise<LivePiece[]> {
    return guarded(async () => {
      const rows = await this.#pool.any(sql.type(pieceRow)`
        with placed as (
          select piece,
            coalesce(sum(frames) over before, 0)::int8 as start_frame,
            coalesce(sum(octet_length(data)) over before, 0)::int8 as start_byte
          from audio_pieces where session_id = ${sessionId} and sequence = ${sequence}
          window before as (order by piece rows between unbounded preceding and 1 preceding)
        )
        select p.piece, p.media_type as "mediaType", p.sample_rate as "sampleRate", p.frames,
          placed.start_frame as "startFrame", placed.start_byte as "startByte", p.data,
          ${WANTS_INTERIM} as interim
        from audio_pieces p join placed using (piece)
        left join audio_streams a on a.session_id = p.session_id
        where p.session_id = ${sessionId} and p.sequence = ${sequence} and p.piece >= ${piece}
        order by p.piece limit ${limit}`);
      return rows.map(({ mediaType, sampleRate, ...row }) => ({
        kind: "piece",
        sequence,
        ...row,
        format: { mediaType, sampleRate },
      }));
    });
  }

  sequenceAt(sessionId: string, position: number): Promise<number> {
    return guarded(async () => {
      const found = await this.#pool.maybeOneFirst(sql.type(z.object({ sequence: z.number() }))`
        select sequence from chunks
        where session_id = ${sessionId} and start_sample <= ${position}
        order by start_sample desc, sequence desc limit 1`);
      return found ?? 0;
    });
  }

  checkpoint(
    sessionId: string,
    attempt: number,
    position: number,
  ): Promise<StoredCheckpoint | undefined> {
    return guarded(async () => {
      const row = await this.#pool.maybeOne(sql.type(checkpointRow)`
        select position, recogniser, speakers, voices from checkpoints
        where session_id = ${sessionId} and attempt = ${attempt} and position <= ${position}
        order by position desc limit 1`);
      return row === null ? undefined : { ...row, voices: row.voices ?? undefined };
    });
  }

  suspects(sessionId: string, attempt: number): Promise<Suspect[]> {
    return guarded(async () => {
      const rows = await this.#pool.any(sql.type(suspectRow)`
        select sequence, breaks, position from suspects
        where session_id = ${sessionId} and attempt = ${attempt}
        order by sequence`);
      return [...rows];
    });
  }
}
