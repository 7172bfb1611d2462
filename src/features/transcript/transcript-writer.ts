import { ThreadCalls } from "../../base/threads/thread-calls.ts";
import type { SegmentRecord } from "./segments-store.ts";
import type { WritingRequest } from "./writing-thread.ts";
import { isWrittenAlready, type Writing } from "./written-segments.ts";

const ENTRY = new URL("./writing-thread.ts", import.meta.url);
/** Eight hours of talk full of numbers take some twenty seconds. */
const LONGEST_MS = 60_000;
/** Each holds a transcript in memory. */
const MOST_WAITING = 64;

/**
 * Writes whole transcripts for people, with capitals, marks and digits (`writeSegments`), in a
 * thread: an hour of talk takes a processor up to seconds. Rejects as `ThreadCalls` does.
 */
export class TranscriptWriter {
  readonly #calls = new ThreadCalls<WritingRequest, SegmentRecord[]>({
    entry: ENTRY,
    what: "Writing the transcript",
    longestMs: LONGEST_MS,
    mostWaiting: MOST_WAITING,
  });

  /** The segments in their places. */
  async write(segments: readonly SegmentRecord[], writing: Writing): Promise<SegmentRecord[]> {
    if (isWrittenAlready(writing)) return [...segments];
    return await this.#calls.call({ segments, writing });
  }

  async stop(): Promise<void> {
    await this.#calls.stop();
  }
}
