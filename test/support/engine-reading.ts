import { createDeferred } from "../../src/base/deferred.ts";
import type { Utterance } from "../../src/wire/gen/voice/v1/worker.ts";
import { InferenceClient } from "../../workers/inference/inference-client.ts";
import { InferencePool } from "../../workers/inference/inference-pool.ts";
import type { EngineSettings } from "../../workers/speech/engine-schemas.ts";
import type {
  Reader,
  ReaderFactory,
  RequestMessage,
  ResponseMessage,
} from "../../workers/speech/reader.ts";
import { createSpeechReaders } from "../../workers/threads/speech-readers.ts";
import { chunkMessages, cutChunks, readConversation } from "./read-session.ts";

const SECOND = 16_000;

/** The first seconds of the shipped conversation, in which some utterances end. */
export function someSpeech(seconds: number): RequestMessage[] {
  const pcm = readConversation().subarray(0, seconds * SECOND);
  return chunkMessages(cutChunks(pcm, SECOND));
}

/** The readers of a thread that has these engines, for sessions of which each waits for answers. */
export async function readersOf(...engines: EngineSettings[]): Promise<ReaderFactory> {
  const pool = new InferencePool({ threads: 1 });
  await pool.start();
  const inference = new InferenceClient(pool.connect());
  const stop = (): void => {
    inference.close();
    pool.stop();
  };
  try {
    const readers = await createSpeechReaders({ engines, inference });
    return { ...readers, close: () => readers.close().finally(stop) };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Opens a reading by the engine. */
export function openReading(readers: ReaderFactory, engine: string): Promise<Reader> {
  const about = { language: "en", vocabulary: [], interimResults: true };
  return readers.open({ sessionId: "session", attempt: 1, ...about, engine });
}

/** Everything that a reader answers to the requests and a finish. Rejects as its step does. */
export async function readAll(
  reader: Reader,
  requests: readonly RequestMessage[],
): Promise<ResponseMessage[]> {
  const messages: ResponseMessage[] = [];
  let ready = createDeferred<void>();
  reader.onReady?.(() => ready.resolve());
  try {
    for (const request of [...requests, { $case: "finish", value: {} } as const]) {
      reader.enqueue(request);
    }
    for (;;) {
      const step = reader.step();
      messages.push(...step.messages);
      if (step.done) return messages;
      if (step.waits !== true) continue;
      await ready.promise;
      ready = createDeferred<void>();
    }
  } finally {
    reader.close();
  }
}

export function utterancesOf(messages: readonly ResponseMessage[]): Utterance[] {
  return messages.flatMap((message) =>
    message.$case === "utterance" && message.value.segments.length > 0 ? [message.value] : [],
  );
}

/** The words of each utterance. */
export function textsOf(messages: readonly ResponseMessage[]): string[] {
  return utterancesOf(messages).map(({ segments }) =>
    segments.flatMap(({ words }) => words.map(({ text }) => text)).join(" "),
  );
}
