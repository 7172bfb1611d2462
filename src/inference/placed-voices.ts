import { AppError, toAppError } from "../base/errors.ts";
import type { CompareVoiceResponse } from "../wire/gen/voice/v1/voices.ts";
import { VoiceServiceService } from "../wire/gen/voice/v1/worker_services.ts";
import type { Placement } from "./placement.ts";
import type { WorkerClient } from "./worker-client.ts";

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

interface PlacedVoicesOptions {
  placement: Pick<Placement, "pickForText" | "failed">;
  client: Pick<WorkerClient, "stream" | "close">;
  /** The workers' service key, when they have one. */
  key: string | undefined;
}

/** Has the least busy worker make prints of voices and compare them. */
export class PlacedVoices {
  readonly #options: PlacedVoicesOptions;
  readonly #closing = new AbortController();

  constructor(options: PlacedVoicesOptions) {
    this.#options = options;
  }

  /**
   * Compares speech of one voice, 16 kHz mono of 16 bits, with prints of the worker's method. Rejects
   * with `unavailable`, `overloaded` or `timeout`, which may be retried.
   */
  async compare(pcm: Uint8Array, prints: readonly Uint8Array[]): Promise<ComparedVoice> {
    const { placement, client, key } = this.#options;
    const address = placement.pickForText();
    if (address === undefined) {
      throw new AppError("unavailable", "No worker is running that could listen to the voice.", {
        retryAfter: 5,
      });
    }
    const answers: CompareVoiceResponse[] = [];
    const request = { pcm: Buffer.from(pcm), prints: prints.map((each) => Buffer.from(each)) };
    try {
      await client.stream(address, VoiceServiceService.compareVoice, request, {
        key,
        deadlineMs: DEADLINE_MS,
        signal: this.#closing.signal,
        onMessage: (answer: CompareVoiceResponse) => answers.push(answer),
      });
    } catch (cause) {
      const error = toAppError(cause);
      if (error.code === "unavailable" && !this.#closing.signal.aborted) placement.failed(address);
      throw error;
    }
    const [answer] = answers;
    if (answer !== undefined) return answer;
    throw new AppError("unavailable", "The worker ended before it had listened to the voice.");
  }

  close(): void {
    this.#closing.abort();
    this.#options.client.close();
  }
}
