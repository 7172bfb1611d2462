import { readFileSync } from "node:fs";
import type { AudioChunk, Checkpoint, Utterance } from "../../src/wire/gen/voice/v1/worker.ts";
import { POCKETSPHINX } from "../../src/wire/speech-engines.ts";
import { createSpeakerTracker } from "../../workers/speakers/session-tracker.ts";
import type { RequestMessage, ResponseMessage } from "../../workers/speech/reader.ts";
import type { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { SessionReader } from "../../workers/speech/session-reader.ts";

const CONVERSATION = new URL("../../deploy/demo/conversation.wav", import.meta.url);
const HEADER_BYTES = 44;

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

  /** @param speakerChannels how many channels are one speaker each; none are without it */
  static async open(
    recognisers: RecogniserPool,
    checkpoint?: Checkpoint,
    speakerChannels?: number,
    vocabulary: readonly string[] = [],
  ): Promise<SessionReading> {
    const language = { language: "en", vocabulary: [...vocabulary] };
    const open = { sessionId: "session", attempt: 1, ...language, speakerChannels };
    const engine = POCKETSPHINX;
    const deps = { recognisers, engine, createTracker: createSpeakerTracker };
    return new SessionReading(
      await SessionReader.open({ ...open, checkpoint, interimResults: true }, deps),
    );
  }

  private constructor(reader: SessionReader) {
    this.#reader = reader;
  }

  /** What the reading answers until it needs more. */
  feed(request: RequestMessage): ResponseMessage[] {
    const messages: ResponseMessage[] = [];
    this.#reader.enqueue(request);
    for (let step = this.#reader.step(); !step.idle; step = this.#reader.step()) {
      messages.push(...step.messages);
      if (step.done) break;
    }
    return messages;
  }

  close(): void {
    this.#reader.close();
  }
}

/** Everything a reading answers to `requests` and a finish, each request read before the next. */
export async function readSession(
  recognisers: RecogniserPool,
  requests: readonly RequestMessage[],
  checkpoint?: Checkpoint,
  speakerChannels?: number,
  vocabulary: readonly string[] = [],
): Promise<ResponseMessage[]> {
  const reading = await SessionReading.open(recognisers, checkpoint, speakerChannels, vocabulary);
  try {
    return [...requests, { $case: "finish", value: {} } as const].flatMap((request) =>
      reading.feed(request),
    );
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
