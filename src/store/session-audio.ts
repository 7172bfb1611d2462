import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { AudioSource, PlacedChunk, StoredCheckpoint } from "../inference/audio-source.ts";
import { guarded } from "./store-error.ts";
import { activeCharacterNames } from "./workshop-characters.ts";

const chunkRow = z.object({
  sequence: z.number(),
  start: z.number(),
  length: z.number(),
  mediaType: z.string(),
  sha256: z.string(),
});

const checkpointRow = z.object({
  position: z.number(),
  recogniser: z.instanceof(Buffer),
  speakers: z.instanceof(Buffer),
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
               media_type as "mediaType", encode(sha256, 'hex') as sha256
        from chunks
        where session_id = ${sessionId} and sequence >= ${fromSequence}
          and start_sample is not null
        order by sequence limit ${limit}`);
      return [...rows];
    });
  }

  sequenceAt(sessionId: string, position: number): Promise<number> {
    return guarded(async () => {
      const found = await this.#pool.maybeOneFirst(sql.type(z.object({ sequence: z.number() }))`
        select sequence from chunks
        where session_id = ${sessionId} and start_sample <= ${position}
        order by sequence desc limit 1`);
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
        select position, recogniser, speakers from checkpoints
        where session_id = ${sessionId} and attempt = ${attempt} and position <= ${position}
        order by position desc limit 1`);
      return row ?? undefined;
    });
  }
}
