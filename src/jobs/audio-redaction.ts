import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type ChunkSpan, silenceSpans } from "./silence.ts";

const SAMPLES_PER_SECOND = 16_000;

/** A chunk that overlaps redacted spans, with all of them. Positions are samples at 16 kHz. */
export interface RedactedChunk {
  sequence: number;
  start: number;
  mediaType: string;
  /** SHA-256 in hex of the uploaded bytes: the name of its file. */
  blob: string;
  spans: readonly { from: number; to: number }[];
}

/** Port: redactions whose sound is still to be taken out. */
export interface RedactionRecords {
  /** Sessions with such redactions, and the ids of those redactions, oldest first. */
  pending(limit: number): Promise<{ sessionId: string; redactionIds: string[] }[]>;
  chunks(sessionId: string): Promise<RedactedChunk[]>;
  /**
   * Runs `work` with the chunk and its spans of this moment, unless somebody is
   * at this session already; true when it ran. `work` asks the record nothing.
   */
  exclusively(
    sessionId: string,
    sequence: number,
    work: (chunk: RedactedChunk) => Promise<void>,
  ): Promise<boolean>;
  done(redactionIds: readonly string[]): Promise<void>;
}

/** Port: audio files by session and SHA-256 in hex. */
export interface RedactionFiles {
  read(sessionId: string, sha256: string): Promise<Uint8Array>;
  /** Puts other bytes in the place of a file that is there, at once and durably. */
  replace(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void>;
}

/**
 * Takes redacted spans out of the stored audio: each file that touches one gets
 * silence there, under its old name, so that the same upload is known again
 * and does not bring the sound back. Repeatable at any point.
 */
export class AudioRedaction {
  readonly #records: RedactionRecords;
  readonly #files: RedactionFiles;
  readonly #log: Log;

  constructor(records: RedactionRecords, files: RedactionFiles, log: Log) {
    this.#records = records;
    this.#files = files;
    this.#log = log;
  }

  /** Returns how many sessions were brought up to date. */
  async run(limit = 20): Promise<number> {
    let done = 0;
    for (const { sessionId, redactionIds } of await this.#records.pending(limit)) {
      try {
        if (!(await this.#silence(sessionId))) continue;
        await this.#records.done(redactionIds);
        done += 1;
      } catch (error) {
        const fields = { session_id: sessionId, error: errorMessage(error) };
        this.#log.error(fields, "redacted audio could not be silenced yet");
      }
    }
    return done;
  }

  async #silence(sessionId: string): Promise<boolean> {
    let complete = true;
    for (const { sequence } of await this.#records.chunks(sessionId)) {
      // One at a time, and by the spans of this moment: an older set must not win over a newer.
      const ran = await this.#records.exclusively(sessionId, sequence, (chunk) =>
        this.#silenceChunk(sessionId, chunk),
      );
      complete &&= ran;
    }
    return complete;
  }

  async #silenceChunk(sessionId: string, chunk: RedactedChunk): Promise<void> {
    const bytes = await this.#files.read(sessionId, chunk.blob);
    const quiet = silenceSpans(bytes, chunk.mediaType, chunk.spans.map(within(chunk)));
    // Undefined: nobody can hear what nobody can decode; it goes with the session.
    if (quiet === undefined || Buffer.compare(bytes, quiet) === 0) return;
    await this.#files.replace(sessionId, chunk.blob, quiet);
  }
}

function within({ start }: RedactedChunk): (span: { from: number; to: number }) => ChunkSpan {
  return ({ from, to }) => ({
    from: (from - start) / SAMPLES_PER_SECOND,
    to: (to - start) / SAMPLES_PER_SECOND,
  });
}
