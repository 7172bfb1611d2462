import { ThreadCalls } from "../../../base/threads/thread-calls.ts";
import type { ComparisonOrder } from "./comparison-document.ts";
import type { TranscriptOrder } from "./transcript-document.ts";
import type { WritingRequest } from "./writing-thread.ts";
import type { Writing } from "./written-segments.ts";

const ENTRY = new URL("./writing-thread.ts", import.meta.url);
/** Eight hours of talk full of numbers take some twenty seconds. */
const LONGEST_MS = 60_000;
/** Each holds a transcript in memory. */
const MOST_WAITING = 64;

/**
 * Writes whole transcripts, as files and as JSON, in a thread: an hour of talk takes a processor up
 * to seconds. What is returned is the body of an answer, in UTF-8. Rejects as `ThreadCalls` does.
 */
export class TranscriptWriter {
  readonly #calls = new ThreadCalls<WritingRequest, Uint8Array>({
    entry: ENTRY,
    what: "Writing the transcript",
    longestMs: LONGEST_MS,
    mostWaiting: MOST_WAITING,
  });

  /** @param json of `SegmentStore.asJson` */
  transcript(json: string, writing: Writing, order: TranscriptOrder): Promise<Uint8Array> {
    return this.#calls.call({ kind: "transcript", json, writing, order });
  }

  /**
   * What a repeated transcription would change.
   *
   * @param json of `CandidateStore.texts`
   */
  comparison(json: string, order: ComparisonOrder): Promise<Uint8Array> {
    return this.#calls.call({ kind: "comparison", json, order });
  }

  async stop(): Promise<void> {
    await this.#calls.stop();
  }
}
