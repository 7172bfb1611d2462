import { AppError } from "../../src/base/errors.ts";
import type { Open, Opened } from "../../src/wire/gen/voice/v1/worker.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import type {
  Reader,
  ReaderFactory,
  ReaderStep,
  RequestMessage,
  ResponseMessage,
} from "../../workers/speech/reader.ts";

const BLOCK = 1_600;
const SECOND = 16_000;

/**
 * A reader without ears, for tests of threads and transport: each second of audio becomes an
 * utterance with one word. A chunk's media type may order a mishap: "test/crash", "test/hang",
 * "test/throw", "test/flood" (many large results in one step).
 */
export class ScriptedReader implements Reader {
  readonly opened: Opened = {
    engine: "scripted",
    engineVersion: "1",
    diarisationModelVersion: "none",
    detectedLanguage: "en",
  };
  readonly engineMs = 0;
  #position: number;
  #end: number;
  #finalised: number;
  #finishing = false;
  #flood = 0;

  constructor(open: Open) {
    if (open.language === "xx") throw new AppError("bad_request", "No such language: xx.");
    this.#position = open.checkpoint?.position ?? 0;
    this.#end = this.#position;
    this.#finalised = this.#position;
  }

  enqueue(message: RequestMessage): void {
    if (message.$case === "finish") this.#finishing = true;
    if (message.$case !== "chunk") return;
    const { mediaType, start, length } = message.value;
    if (mediaType === "test/crash") process.exit(7);
    if (mediaType === "test/uncaught") setImmediate(() => JSON.parse("{"));
    if (mediaType === "test/throw") throw new AppError("not_audio", "This is no audio.");
    if (mediaType === "test/hang") for (;;);
    if (mediaType === "test/flood") this.#flood = length;
    else this.#end = Math.max(this.#end, start + length);
  }

  queuedSamples(): number {
    return this.#end - this.#position;
  }

  step(): ReaderStep {
    const messages: ResponseMessage[] = [];
    if (this.#flood > 0) {
      this.#flood -= 1;
      messages.push({ $case: "utterance", value: this.#utterance(64 * 1024) });
      return { messages, idle: false, done: false };
    }
    this.#position = Math.min(this.#end, this.#position + BLOCK);
    while (this.#position - this.#finalised >= SECOND) {
      messages.push({ $case: "utterance", value: this.#utterance(8) });
      this.#finalised += SECOND;
    }
    const isDry = this.queuedSamples() === 0;
    const done = isDry && this.#finishing;
    const finalisedTo = this.#position;
    if (done) messages.push({ $case: "done", value: { finalisedTo, speakers: undefined } });
    return { messages, idle: isDry, done };
  }

  close(): void {}

  #utterance(stateBytes: number) {
    const start = this.#finalised;
    const end = start + SECOND;
    const word = { text: `word${start / SECOND}`, start, end, confidence: 1 };
    return {
      start,
      end,
      segments: [{ start, end, words: [word], confidence: 1, cluster: 0, overlaps: [] }],
      checkpoint: {
        position: end,
        recogniser: Buffer.alloc(stateBytes),
        speakers: Buffer.alloc(0),
      },
      speakers: undefined,
    };
  }
}

export const scriptedReaders: ReaderFactory = {
  engines: [{ ...MOONSHINE, name: "scripted" }],
  open: async (open) => new ScriptedReader(open),
  close: async () => {},
};
