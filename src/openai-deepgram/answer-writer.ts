import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import { ThreadCalls } from "../base/threads/thread-calls.ts";
import type { AnswerRequest } from "./answer-thread.ts";

const ENTRY = new URL("./answer-thread.ts", import.meta.url);
/** As long as a transcript may take; see `TranscriptWriter`. */
const LONGEST_MS = 60_000;
const WAITING = { capacity: 64, share: 16 };
const THREADS = 2;

/**
 * Writes the answers to whole recordings, in a thread: those of hours take seconds. Rejects as
 * `ThreadCalls` does.
 */
export class AnswerWriter implements QueueOwner {
  readonly #calls = new ThreadCalls<AnswerRequest, string>({
    entry: ENTRY,
    ...{ queue: "compat_answers", what: "Writing the answer" },
    ...{ threads: THREADS, longestMs: LONGEST_MS, waiting: WAITING },
  });

  get queues(): readonly QueueFigures[] {
    return this.#calls.queues;
  }

  /**
   * The body of the answer.
   *
   * @param tenant for whom it is written; see `FairTurns`
   * @param read gives what is needed when it is the tenant's turn
   * @param signal ends it: nobody waits for the answer any more
   */
  write(tenant: string, read: () => Promise<AnswerRequest>, signal?: AbortSignal): Promise<string> {
    return this.#calls.call(tenant, read, signal);
  }

  async stop(): Promise<void> {
    await this.#calls.stop();
  }
}
