import { withTimeout } from "../../src/base/deferred.ts";
import type { AppError } from "../../src/base/errors.ts";
import type {
  TranscribeResult,
  TranscriptionStream,
} from "../../src/inference/transcription-stream.ts";
import type { Checkpoint, Open } from "../../src/wire/gen/voice/v1/worker.ts";

/** Collects what a stream says, for tests. */
export class TranscribeProbe {
  readonly messages: TranscribeResult[] = [];
  readonly ended: Promise<AppError | undefined>;
  readonly stream: TranscriptionStream;
  #waiting: { isMet: () => boolean; resolve: () => void }[] = [];

  constructor(stream: TranscriptionStream) {
    this.stream = stream;
    this.ended = new Promise((resolve) => stream.onEnd(resolve));
    stream.onMessage((message) => {
      this.messages.push(message);
      for (const waiting of this.#waiting) if (waiting.isMet()) waiting.resolve();
    });
  }

  open(fields: Partial<Open> = {}): void {
    this.stream.send({
      $case: "open",
      value: {
        sessionId: "3f0c9a52-7a54-7c11-8000-000000000001",
        attempt: 1,
        language: "",
        vocabulary: [],
        checkpoint: undefined,
        interimResults: true,
        ...fields,
      },
    });
  }

  chunk(
    sequence: number,
    start: number,
    length: number,
    mediaType: string,
    data = Buffer.alloc(0),
  ) {
    return this.stream.send({
      $case: "chunk",
      value: { sequence, start, length, mediaType, data },
    });
  }

  finish(): void {
    this.stream.send({ $case: "finish", value: {} });
    this.stream.finish();
  }

  count(kind: TranscribeResult["$case"]): number {
    return this.messages.filter((message) => message.$case === kind).length;
  }

  /** Resolves when `count(kind)` has come to `least`. */
  until(kind: TranscribeResult["$case"], least = 1, ms = 30_000): Promise<void> {
    const isMet = (): boolean => this.count(kind) >= least;
    if (isMet()) return Promise.resolve();
    const met = new Promise<void>((resolve) => this.#waiting.push({ isMet, resolve }));
    return withTimeout(met, ms, `Waiting for ${least} of ${kind}`);
  }

  end(ms = 30_000): Promise<AppError | undefined> {
    return withTimeout(this.ended, ms, "Waiting for the end of the stream");
  }

  /** Every final word, with its place. */
  words(): string[] {
    return this.messages.flatMap((message) =>
      message.$case === "utterance"
        ? message.value.segments.flatMap((segment) =>
            segment.words.map((word) => `${word.start}-${word.end} ${word.text}`),
          )
        : [],
    );
  }

  checkpoints(): Checkpoint[] {
    return this.messages.flatMap((message) =>
      message.$case === "utterance" && message.value.checkpoint !== undefined
        ? [message.value.checkpoint]
        : [],
    );
  }
}
