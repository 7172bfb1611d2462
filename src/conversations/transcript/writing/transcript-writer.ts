import type { QueueFigures, QueueOwner } from "../../../base/queue-metrics.ts";
import { ThreadCalls } from "../../../base/threads/thread-calls.ts";
import type { ComparisonOrder } from "./comparison-document.ts";
import type { TranscriptOrder } from "./transcript-document.ts";
import type { WritingRequest } from "./writing-thread.ts";
import type { Writing } from "./written-segments.ts";

const ENTRY = new URL("./writing-thread.ts", import.meta.url);
/** Eight hours of talk full of numbers take some twenty seconds. */
const LONGEST_MS = 60_000;
const WAITING = { capacity: 64, share: 16 };
const THREADS = 2;

/**
 * Writes whole transcripts, as files and as JSON, in a thread: an hour of talk takes a processor up
 * to seconds. What is returned is the body of an answer, in UTF-8. Rejects as `ThreadCalls` does.
 */
export class TranscriptWriter implements QueueOwner {
  readonly #calls = new ThreadCalls<WritingRequest, Uint8Array>({
    entry: ENTRY,
    ...{ queue: "transcripts", what: "Writing the transcript" },
    ...{ threads: THREADS, longestMs: LONGEST_MS, waiting: WAITING },
  });

  get queues(): readonly QueueFigures[] {
    return this.#calls.queues;
  }

  /**
   * @param tenant for whom it is written; see `FairTurns`
   * @param read gives what `SegmentStore.asJson` gives, when it is the tenant's turn
   * @param signal ends it: nobody waits for the transcript any more
   */
  transcript(
    tenant: string,
    read: () => Promise<string>,
    writing: Writing,
    order: TranscriptOrder,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const prepare = async (): Promise<WritingRequest> => {
      return { kind: "transcript", json: await read(), writing, order };
    };
    return this.#calls.call(tenant, prepare, signal);
  }

  /**
   * What a repeated transcription would change.
   *
   * @param read gives what `CandidateStore.texts` gives
   * @param signal as of `transcript`
   */
  comparison(
    tenant: string,
    read: () => Promise<string>,
    order: ComparisonOrder,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const prepare = async (): Promise<WritingRequest> => {
      return { kind: "comparison", json: await read(), order };
    };
    return this.#calls.call(tenant, prepare, signal);
  }

  async stop(): Promise<void> {
    await this.#calls.stop();
  }
}
