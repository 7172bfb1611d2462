import { toAppError } from "../../src/base/errors.ts";
import type { InferenceClient } from "../inference/inference-client.ts";
import { EMBEDDING_SIZE } from "../inference/voice-networks.ts";
import type { PendingNumbers, VoiceAnalysis } from "./voice-analysis.ts";

/** The networks of the process's inference threads, for the voices of one session. */
export class NetworkVoices implements VoiceAnalysis {
  readonly name = "campplus+segmentation-3";
  readonly vectorSize = EMBEDDING_SIZE;
  readonly #client: InferenceClient;
  #onNews: (() => void) | undefined;

  constructor(client: InferenceClient) {
    this.#client = client;
  }

  embed(pcm: Int16Array): PendingNumbers {
    return this.#ask("embed", pcm);
  }

  segment(pcm: Int16Array): PendingNumbers {
    return this.#ask("segment", pcm);
  }

  onNews(listener: (() => void) | undefined): void {
    this.#onNews = listener;
  }

  #ask(kind: "embed" | "segment", pcm: Int16Array): PendingNumbers {
    const pending = this.#client.hear(kind, pcm);
    let [numbers, failure]: [Float32Array | undefined, Error | undefined] = [undefined, undefined];
    const settled = pending.answer
      .then(
        (answer) => {
          numbers = answer?.numbers;
        },
        (error: unknown) => {
          failure = toAppError(error);
        },
      )
      .finally(() => this.#onNews?.());
    return {
      get numbers() {
        if (failure !== undefined) throw failure;
        return numbers;
      },
      settled,
      drop: () => pending.drop(),
    };
  }
}
