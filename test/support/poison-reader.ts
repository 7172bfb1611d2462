import { appendFileSync, readFileSync } from "node:fs";
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
const MARK = "POISON";
/** Bytes by which "grow" makes its thread larger. */
export const GROWTH = 512 * 1024 * 1024;
const grown: Buffer[] = [];

export type Mishap = "exit" | "kill" | "hang" | "throw" | "stop" | "grow";

/** Audio at which the reader below meets with a mishap, having noted the try in `file`. */
export function poisoned(mishap: Mishap, file: string, bytes: number): Buffer {
  const pcm = Buffer.alloc(bytes);
  pcm.write(`${MARK} ${mishap} ${file}\n`, "latin1");
  return pcm;
}

interface Span {
  start: number;
  end: number;
  data: Buffer;
}

/**
 * A reader without ears for tests of what breaks readings: each second of audio becomes an
 * utterance, and the mishap that a chunk orders happens when its first sample is read.
 */
class PoisonReader implements Reader {
  readonly opened: Opened = {
    engine: "poison",
    engineVersion: "1",
    diarisationModelVersion: "none",
    detectedLanguage: "en",
  };
  readonly engineMs = 0;
  readonly #spans: Span[] = [];
  #position: number;
  #end: number;
  #finalised: number;
  #finishing = false;

  constructor({ checkpoint }: Open) {
    this.#position = checkpoint?.position ?? 0;
    this.#end = this.#position;
    this.#finalised = this.#position;
  }

  enqueue(message: RequestMessage): void {
    if (message.$case === "finish") this.#finishing = true;
    if (message.$case !== "chunk" && message.$case !== "gap") return;
    const { start, length } = message.value;
    const data = message.$case === "chunk" ? message.value.data : Buffer.alloc(0);
    this.#spans.push({ start, end: start + length, data });
    this.#end = Math.max(this.#end, start + length);
  }

  queuedSamples(): number {
    return this.#end - this.#position;
  }

  step(): ReaderStep {
    const span = this.#spans.find(({ start }) => start === this.#position);
    if (span !== undefined) meet(span.data);
    this.#position = Math.min(this.#end, this.#position + BLOCK);
    const messages: ResponseMessage[] = [];
    while (this.#position - this.#finalised >= SECOND) messages.push(this.#utterance());
    const isDry = this.queuedSamples() === 0;
    const done = isDry && this.#finishing;
    const finalisedTo = this.#position;
    if (done) messages.push({ $case: "done", value: { finalisedTo, speakers: undefined } });
    return { messages, idle: isDry, done };
  }

  close(): void {}

  #utterance(): ResponseMessage {
    const start = this.#finalised;
    const end = start + SECOND;
    this.#finalised = end;
    const word = { text: `word${start / SECOND}`, start, end, confidence: 1 };
    const empty = Buffer.alloc(0);
    return {
      $case: "utterance",
      value: {
        start,
        end,
        segments: [{ start, end, words: [word], confidence: 1, cluster: 0, overlaps: [] }],
        checkpoint: { position: end, recogniser: empty, speakers: empty },
        speakers: undefined,
      },
    };
  }
}

function meet(data: Buffer): void {
  const order = data.subarray(0, 512).toString("latin1").split("\n")[0]?.split(" ") ?? [];
  const [mark, mishap, file] = order;
  if (mark !== MARK || file === undefined) return;
  appendFileSync(file, "x");
  if (mishap === "exit") process.exit(7);
  if (mishap === "kill") process.kill(process.pid, "SIGKILL");
  if (mishap === "hang") for (;;);
  if (mishap === "grow") return void grown.push(Buffer.alloc(GROWTH));
  if (mishap === "stop") {
    // The whole process stands still, the first time.
    if (readFileSync(file, "utf8").length === 1) process.kill(process.pid, "SIGSTOP");
    return;
  }
  throw new TypeError("The reader does not understand this audio.");
}

export const poisonReaders: ReaderFactory = {
  engines: [{ ...MOONSHINE, name: "poison" }],
  open: async (open) => new PoisonReader(open),
  close: async () => {},
};
