import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Span } from "../../session/segments.ts";
import type { RecordingStore } from "../recording/playback-store.ts";

/** Most segments that are read: the longest ones, whose speaker is the surest. */
const MOST_SEGMENTS = 40;
const SAMPLE_BYTES = 2;

const spanRow = z.object({ start: z.number(), end: z.number() });

/** Sound of a label, 16 kHz mono of 16 bits, and which spans of the session it is. */
interface Speech {
  pcm: Buffer;
  /** In samples; each lies within one segment. */
  spans: readonly Span[];
}

/** Reads the sound of one label of a session. Throws `unavailable` when storage is away. */
export class LabelSpeech {
  readonly #pool: DatabasePool;
  readonly #recordings: Pick<RecordingStore, "open">;

  constructor(pool: DatabasePool, recordings: Pick<RecordingStore, "open">) {
    this.#pool = pool;
    this.#recordings = recordings;
  }

  /**
   * At most `most` samples, in order of time. What was redacted is left out.
   * Throws `session_deleted` when the session was deleted meanwhile.
   */
  async read(sessionId: string, label: string, most: number): Promise<Speech> {
    const spans = await this.#spans(sessionId, label, most);
    const recording = await this.#recordings.open(sessionId);
    const parts: Uint8Array[] = [];
    for (const { start, end } of spans) {
      for await (const part of recording.read(start, end)) parts.push(part);
    }
    return { pcm: Buffer.concat(parts).subarray(0, most * SAMPLE_BYTES), spans };
  }

  async #spans(sessionId: string, label: string, most: number): Promise<Span[]> {
    const rows = await this.#pool.any(sql.type(spanRow)`
      select start_sample as start, end_sample as "end" from segments
      where session_id = ${sessionId} and label = ${label} and not redacted
      order by end_sample - start_sample desc, start_sample
      limit ${MOST_SEGMENTS}`);
    const taken: Span[] = [];
    let samples = 0;
    for (const { start, end } of rows) {
      if (samples >= most) break;
      const length = Math.min(end - start, most - samples);
      taken.push({ start, end: start + length });
      samples += length;
    }
    return taken.sort((a, b) => a.start - b.start);
  }
}
