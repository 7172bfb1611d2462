import { AppError } from "../base/errors.ts";
import type { CompareVoiceResponse } from "../wire/gen/voice/v1/voices.ts";
import { VoiceServiceService } from "../wire/gen/voice/v1/worker_services.ts";
import { WorkerCalls, type WorkerCallsOptions } from "./worker-calls.ts";

const DEADLINE_MS = 30_000;

/** A voice in numbers, and how like it is to others. */
interface ComparedVoice {
  /** Prints of different methods cannot be compared. */
  method: string;
  print: Uint8Array;
  /** Length of the speech without its pauses. */
  speechMs: number;
  /** For each other print, the logarithm of how much likelier both are one voice than two. */
  logRatios: number[];
}

/** Has the least busy worker make prints of voices and compare them. */
export class WorkerVoices {
  readonly #client: WorkerCallsOptions["client"];
  readonly #calls: WorkerCalls;
  readonly #closing = new AbortController();

  constructor(options: WorkerCallsOptions) {
    this.#client = options.client;
    this.#calls = new WorkerCalls(options);
  }

  /**
   * Compares speech of one voice, 16 kHz mono of 16 bits, with prints of the worker's method. Rejects
   * with `unavailable`, `overloaded` or `timeout`, which may be retried.
   */
  async compare(pcm: Uint8Array, prints: readonly Uint8Array[]): Promise<ComparedVoice> {
    let answer: CompareVoiceResponse | undefined;
    const request = { pcm: Buffer.from(pcm), prints: prints.map((each) => Buffer.from(each)) };
    await this.#calls.call(VoiceServiceService.compareVoice, request, {
      deadlineMs: DEADLINE_MS,
      signal: this.#closing.signal,
      onMessage: (message: CompareVoiceResponse) => {
        answer = message;
      },
      purpose: "listen to the voice",
    });
    if (answer !== undefined) return answer;
    throw new AppError("unavailable", "The worker ended before it had listened to the voice.");
  }

  close(): void {
    this.#closing.abort();
    this.#client.close();
  }
}
