import { toAppError } from "../../src/base/errors.ts";
import type { SessionInference } from "../inference/inference-client.ts";
import { EMBEDDING_SIZE } from "../inference/voice-shapes.ts";
import type { PendingNumbers, VoiceAnalysis } from "./voice-analysis.ts";

/** Requests of a session that the inference threads have at once: a file that came whole holds up nobody. */
const MOST_AT_ONCE = 2;

interface Asked {
  kind: "embed" | "segment";
  pcm: Int16Array;
  numbers?: Float32Array | undefined;
  failure?: Error;
  settle: () => void;
  /** Stops what the inference threads do for it; absent while it waits here. */
  stop?: () => void;
}

/** The networks of the process's inference threads, for the voices of one session. */
export class NetworkVoices implements VoiceAnalysis {
  readonly name = "campplus+segmentation-3";
  readonly vectorSize = EMBEDDING_SIZE;
  readonly #client: SessionInference;
  readonly #waiting: Asked[] = [];
  #running = 0;
  #onNews: (() => void) | undefined;

  constructor(client: SessionInference) {
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

  #ask(kind: Asked["kind"], pcm: Int16Array): PendingNumbers {
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const asked: Asked = { kind, pcm, settle };
    this.#waiting.push(asked);
    this.#begin();
    return {
      get numbers() {
        if (asked.failure !== undefined) throw asked.failure;
        return asked.numbers;
      },
      settled,
      drop: () => this.#drop(asked),
    };
  }

  #begin(): void {
    while (this.#running < MOST_AT_ONCE) {
      const asked = this.#waiting.shift();
      if (asked === undefined) return;
      this.#running += 1;
      const pending = this.#client.hear(asked.kind, asked.pcm);
      asked.stop = () => pending.drop();
      pending.answer
        .then(
          (answer) => {
            asked.numbers = answer?.numbers;
          },
          (error: unknown) => {
            asked.failure = toAppError(error);
          },
        )
        .finally(() => {
          this.#running -= 1;
          this.#begin();
          asked.settle();
          this.#onNews?.();
        });
    }
  }

  #drop(asked: Asked): void {
    const at = this.#waiting.indexOf(asked);
    if (at < 0) asked.stop?.();
    else {
      this.#waiting.splice(at, 1);
      asked.settle();
    }
  }
}
