import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type ChunkSpan, silenceSpans } from "./silence.ts";

/** A chunk that overlaps redacted spans, with all of them. Positions are samples at 16 kHz. */
export interface RedactedChunk {
  sequence: number;
  start: number;
  length: number;
  mediaType: string;
  /** SHA-256 in hex of the uploaded bytes: the name of its file. */
  blob: string;
  spans: readonly { from: number; to: number }[];
}

export interface ChunkName {
  sessionId: string;
  sequence: number;
}

/** Port: chunks whose file still has what was redacted. */
export interface RedactionRecords {
  /** Such chunks, in an order of their own, after one of them when it is given. */
  pending(limit: number, after?: ChunkName): Promise<ChunkName[]>;
  /**
   * Runs `work` with the chunk and its spans of this moment, unless somebody is
   * at this session already; true when it ran. A chunk or a span that moved or
   * came meanwhile is pending again. `work` asks the record nothing.
   */
  exclusively(chunk: ChunkName, work: (chunk: RedactedChunk) => Promise<void>): Promise<boolean>;
}

/** Port: audio files by session and SHA-256 in hex. */
interface RedactionFiles {
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
  #after: ChunkName | undefined;

  constructor(records: RedactionRecords, files: RedactionFiles, log: Log) {
    this.#records = records;
    this.#files = files;
    this.#log = log;
  }

  /** Returns how many chunks were brought up to date. */
  async run(limit = 100): Promise<number> {
    const chunks = await this.#records.pending(limit, this.#after);
    // What could not be done keeps nobody behind it waiting.
    this.#after = chunks.length < limit ? undefined : chunks.at(-1);
    let done = 0;
    for (const name of chunks) {
      try {
        const ran = await this.#records.exclusively(name, (chunk) =>
          this.#silenceChunk(name.sessionId, chunk),
        );
        if (ran) done += 1;
      } catch (error) {
        const { sessionId: session_id, sequence } = name;
        const fields = { session_id, sequence, error: errorMessage(error) };
        this.#log.error(fields, "redacted audio could not be silenced yet");
      }
    }
    return done;
  }

  async #silenceChunk(sessionId: string, chunk: RedactedChunk): Promise<void> {
    const bytes = await this.#files.read(sessionId, chunk.blob);
    const quiet = silenceSpans(bytes, chunk.mediaType, chunk.spans.map(within(chunk)));
    // Undefined: nobody can hear what nobody can decode; it goes with the session.
    if (quiet === undefined || Buffer.compare(bytes, quiet) === 0) return;
    await this.#files.replace(sessionId, chunk.blob, quiet);
  }
}

/** Sound that is longer than its chunk's place belongs to the end of the place. */
function within({
  start,
  length,
}: RedactedChunk): (span: { from: number; to: number }) => ChunkSpan {
  return ({ from, to }) => ({
    from: (from - start) / SESSION_RATE,
    to: to >= start + length ? Number.POSITIVE_INFINITY : (to - start) / SESSION_RATE,
  });
}
