import { AppError } from "../base/errors.ts";
import type { Placement } from "./placement.ts";
import type { Transcribers, TranscriptionStream } from "./transcription-stream.ts";
import type { WorkerClient } from "./worker-client.ts";

/** Opens readings on the least loaded worker and reports their success to the placement. */
export class PlacedTranscribers implements Transcribers {
  readonly #placement: Placement;
  readonly #client: WorkerClient;
  readonly #key: string | undefined;

  constructor(placement: Placement, client: WorkerClient, key: string | undefined) {
    this.#placement = placement;
    this.#client = client;
    this.#key = key;
  }

  open(): TranscriptionStream {
    const address = this.#placement.pick();
    if (address === undefined) {
      const known = this.#placement.status().length;
      throw known === 0
        ? new AppError("unavailable", "No worker is running; audio waits until one is.")
        : new AppError("overloaded", "All workers are busy; audio waits for its turn.");
    }
    const instance = this.#placement.instanceAt(address);
    const stream = this.#client.openTranscription(address, {
      key: this.#key,
      isGone: () => this.#placement.isGone(address, instance),
    });
    return this.#observed(address, stream);
  }

  #observed(address: string, stream: TranscriptionStream): TranscriptionStream {
    const placement = this.#placement;
    return {
      send: (message) => stream.send(message),
      onDrain: (listener) => stream.onDrain(listener),
      finish: () => stream.finish(),
      cancel: () => stream.cancel(),
      onMessage: (listener) =>
        stream.onMessage((message) => {
          if (message.$case === "opened") placement.succeeded(address);
          listener(message);
        }),
      onEnd: (listener) =>
        stream.onEnd((error) => {
          // Faults of one session's audio do not count against the worker.
          if (error?.retryable || error?.code === "internal") placement.failed(address);
          listener(error);
        }),
    };
  }
}
