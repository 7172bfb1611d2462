import { setTimeout as delay } from "node:timers/promises";
import { SAMPLES_PER_MS } from "../../src/base/audio/sample-rate.ts";
import { createDeferred } from "../../src/base/deferred.ts";
import type { AudioChunk } from "../../src/wire/gen/voice/v1/worker.ts";
import { ACTIVITY_FRAME, SpeechActivity } from "../../workers/audio/speech-activity.ts";
import type { SpeakerTracker } from "../../workers/speakers/speaker-tracker.ts";
import type { ResponseMessage } from "../../workers/speech/reader.ts";
import { SessionReader } from "../../workers/speech/session-reader.ts";
import type { RunningEngine } from "../support/moonshine-engine.ts";

/** A message of the reader and when a live session would have had it, in ms of the audio. */
export interface TimedMessage {
  at: number;
  message: ResponseMessage;
}

export interface LiveReading {
  messages: TimedMessage[];
  /** Ends of frames with speech, in samples, rising. */
  voicedEnds: number[];
  computeMs: number;
}

export interface LiveOptions {
  pcm: Int16Array;
  /** Length of the pieces in which the audio arrives. */
  pieceMs: number;
  engine: RunningEngine;
  /** True to let the audio come in real time; else as fast as it is read, without interim results. */
  isLive?: boolean;
  createTracker?: (checkpoint?: Uint8Array) => SpeakerTracker;
  /** Called when a piece is read, with when it came, in ms of the audio. */
  afterPiece?: (at: number) => Promise<void>;
}

/**
 * Reads a recording as it would be read live: a piece comes when its last sample has been spoken.
 * Where it does not come in real time, what the reader does takes the processor time that it took
 * here, and the engine's answers count as being there at once.
 */
export async function readLive(options: LiveOptions): Promise<LiveReading> {
  const { pcm, pieceMs, engine, isLive = false } = options;
  const createTracker = options.createTracker ?? ((checkpoint) => engine.createTracker(checkpoint));
  const open = { sessionId: "eval", attempt: 1, language: "en", vocabulary: [] };
  const reader = await SessionReader.open(
    { ...open, interimResults: isLive, sparseCheckpoints: true },
    { engine: engine.engine, createRecogniser: () => engine.create(), createTracker },
  );
  const messages: TimedMessage[] = [];
  const begun = performance.now();
  let clock = 0;
  let computeMs = 0;
  let news = createDeferred<void>();
  const step = () => {
    const before = process.cpuUsage();
    const done = reader.step();
    const { user, system } = process.cpuUsage(before);
    computeMs += (user + system) / 1_000;
    clock = isLive ? performance.now() - begun : clock + (user + system) / 1_000;
    for (const message of done.messages) messages.push({ at: clock, message });
    return done;
  };
  const run = async (arrival: number): Promise<void> => {
    clock = Math.max(clock, arrival);
    for (;;) {
      news = createDeferred<void>();
      const { idle, done, waits } = step();
      if (done || (idle && waits !== true)) return;
      if (waits === true) await news.promise;
    }
  };
  reader.onReady(() => news.resolve());
  const untilSpoken = async (arrival: number): Promise<void> => {
    for (let left = arrival - performance.now() + begun; left > 0; ) {
      await Promise.race([delay(left), news.promise]);
      left = arrival - performance.now() + begun;
      if (left > 0) await run(clock);
    }
  };
  try {
    for (const chunk of pieces(pcm, pieceMs * SAMPLES_PER_MS)) {
      const arrival = (chunk.start + chunk.length) / SAMPLES_PER_MS;
      if (isLive) await untilSpoken(arrival);
      reader.enqueue({ $case: "chunk", value: chunk });
      await run(arrival);
      await options.afterPiece?.(arrival);
    }
    reader.enqueue({ $case: "finish", value: {} });
    await run(clock);
  } finally {
    reader.close();
  }
  return { messages, voicedEnds: voicedEndsOf(pcm), computeMs };
}

function* pieces(pcm: Int16Array, size: number): Generator<AudioChunk> {
  for (let start = 0; start < pcm.length; start += size) {
    const samples = pcm.slice(start, start + size);
    yield {
      sequence: Math.floor(start / (2_000 * SAMPLES_PER_MS)),
      start,
      length: samples.length,
      mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le",
      data: Buffer.from(samples.buffer),
    };
  }
}

/** Ends of the frames with speech, in samples. */
export function voicedEndsOf(pcm: Int16Array): number[] {
  const activity = new SpeechActivity();
  const ends: number[] = [];
  for (let end = ACTIVITY_FRAME; end <= pcm.length; end += ACTIVITY_FRAME) {
    const { probability } = activity.take(pcm.subarray(end - ACTIVITY_FRAME, end));
    if (probability >= 0.5) ends.push(end);
  }
  return ends;
}
