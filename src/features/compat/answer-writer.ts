import { ThreadCalls } from "../../base/threads/thread-calls.ts";
import type { AnswerRequest } from "./answer-thread.ts";

const ENTRY = new URL("./answer-thread.ts", import.meta.url);
/** Twelve hours of talk full of numbers take some thirty seconds. */
const LONGEST_MS = 60_000;
/** Each holds the words of a recording in memory. */
const MOST_WAITING = 64;

/**
 * Writes the answers to whole recordings, in a thread: those of hours take seconds. Rejects as
 * `ThreadCalls` does.
 */
export class AnswerWriter {
  readonly #calls = new ThreadCalls<AnswerRequest, string>({
    entry: ENTRY,
    what: "Writing the answer",
    longestMs: LONGEST_MS,
    mostWaiting: MOST_WAITING,
  });

  /** The body of the answer. */
  write(request: AnswerRequest): Promise<string> {
    return this.#calls.call(request);
  }

  async stop(): Promise<void> {
    await this.#calls.stop();
  }
}
