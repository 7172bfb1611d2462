import { readFileSync } from "node:fs";
import { createDeferred, withTimeout } from "../../src/base/deferred.ts";
import type { AudioChunk, Checkpoint, Utterance } from "../../src/wire/gen/voice/v1/worker.ts";
import type { RequestMessage, ResponseMessage } from "../../workers/speech/reader.ts";
import { SessionReader } from "../../workers/speech/session-reader.ts";
import type { RunningEngine } from "./moonshine-engine.ts";

const CONVERSATION = new URL("../../deploy/demo/conversation.wav", import.meta.url);
const HEADER_BYTES = 44;
/** A slow machine under load. */
const ANSWER_MS = 60_000;

/** The shipped conversation at 16 kHz. */
export function readConversation(): Int16Array {
  const bytes = readFileSync(CONVERSATION).subarray(HEADER_BYTES);
  return Int16Array.from({ length: Math.floor(bytes.length / 2) }, (_, index) =>
    bytes.readInt16LE(2 * index),
  );
}

/** Chunks of raw PCM at 16 kHz, all but the last of `size` samples. */
export function cutChunks(pcm: Int16Array, size: number, start = 0): AudioChunk[] {
  return Array.from({ length: Math.ceil(pcm.length / size) }, (_, sequence) => {
    const samples = pcm.slice(sequence * size, (sequence + 1) * size);
    return {
      sequence,
      start: start + sequence * size,
      length: samples.length,
      mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le",
      data: Buffer.from(samples.buffer),
    };
  });
}

export function chunkMessages(chunks: readonly AudioChunk[]): RequestMessage[] {
  return chunks.map((value) => ({ $case: "chunk", value }));
}

/** A reading under way, fed from hand. */
export class SessionReading {
  readonly #reader: SessionReader;
  /** Resolved when the engine has something new. */
  #news = createDeferred<void>();

  /** @param speakerChannels how many channels are one speaker each; none are without it */
  static async open(
    engine: RunningEngine,
    checkpoint?: Checkpoint,
    speakerChannels?: number,
    vocabulary: readonly string[] = [],
  ): Promise<SessionReading> {
    const language = { language: "en", vocabulary: [...vocabulary] };
    const open = { sessionId: "session", attempt: 1, ...language, speakerChannels };
    const deps = {
      engine: engine.engine,
      createRecogniser: () => engine.create(),
      createTracker: (checkpoint?: Uint8Array) => engine.createTracker(checkpoint),
    };
    return new SessionReading(
      await SessionReader.open({ ...open, checkpoint, interimResults: true }, deps),
    );
  }

  private constructor(reader: SessionReader) {
    this.#reader = reader;
    reader.onReady(() => this.#news.resolve());
  }

  /** What the reading answers until it needs more. */
  async feed(request: RequestMessage): Promise<ResponseMessage[]> {
    const messages: ResponseMessage[] = [];
    this.#reader.enqueue(request);
    for (;;) {
      this.#news = createDeferred<void>();
      const step = this.#reader.step();
      messages.push(...step.messages);
      if (step.done || (step.idle && step.waits !== true)) return messages;
      if (step.waits === true) await withTimeout(this.#news.promise, ANSWER_MS, "An answer");
    }
  }

  /** What the engine has new to say when it next has; call it after `feed`. */
  async news(): Promise<ResponseMessage[]> {
    await withTimeout(this.#news.promise, ANSWER_MS, "An answer");
    this.#news = createDeferred<void>();
    return this.#reader.step().messages;
  }

  close(): void {
    this.#reader.close();
  }
}

/** Everything a reading answers to `requests` and a finish, each request read before the next. */
export async function readSession(
  engine: RunningEngine,
  requests: readonly RequestMessage[],
  checkpoint?: Checkpoint,
  speakerChannels?: number,
  vocabulary: readonly string[] = [],
): Promise<ResponseMessage[]> {
  const reading = await SessionReading.open(engine, checkpoint, speakerChannels, vocabulary);
  const messages: ResponseMessage[] = [];
  try {
    for (const request of [...requests, { $case: "finish", value: {} } as const]) {
      messages.push(...(await reading.feed(request)));
    }
    return messages;
  } finally {
    reading.close();
  }
}

export function utterancesOf(messages: readonly ResponseMessage[]): Utterance[] {
  return messages.flatMap((message) => (message.$case === "utterance" ? [message.value] : []));
}

export function textOf(messages: readonly ResponseMessage[]): string {
  return utterancesOf(messages)
    .flatMap(({ segments }) => segments.flatMap(({ words }) => words.map(({ text }) => text)))
    .join(" ");
}
