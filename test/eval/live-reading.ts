import { SAMPLES_PER_MS } from "../../src/base/audio/sample-rate.ts";
import type { AudioChunk } from "../../src/wire/gen/voice/v1/worker.ts";
import { POCKETSPHINX } from "../../src/wire/speech-engines.ts";
import { ACTIVITY_FRAME, VoiceActivity } from "../../workers/audio/voice-activity.ts";
import { createSpeakerTracker } from "../../workers/speakers/session-tracker.ts";
import type { ResponseMessage } from "../../workers/speech/reader.ts";
import type { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { SessionReader } from "../../workers/speech/session-reader.ts";

/** A message of the reader and when a live session would have had it, in ms of the audio. */
export interface TimedMessage {
  at: number;
  message: ResponseMessage;
}

export interface LiveReading {
  messages: TimedMessage[];
  /** Ends of voiced frames, in samples, rising. */
  voicedEnds: number[];
  computeMs: number;
}

export interface LiveOptions {
  pcm: Int16Array;
  /** Length of the pieces in which the audio arrives. */
  pieceMs: number;
  recognisers: RecogniserPool;
  /** True unless told otherwise; finals and speakers are the same without. */
  interimResults?: boolean;
  createTracker?: typeof createSpeakerTracker;
}

/**
 * Reads a recording as it would be read live on a core of its own: a piece comes when its last
 * sample has been spoken, and what the reader does takes the processor time that it took here
 * (so that other work on the machine does not count).
 */
export async function readLive(options: LiveOptions): Promise<LiveReading> {
  const { pcm, pieceMs, recognisers, interimResults = true } = options;
  const { createTracker = createSpeakerTracker } = options;
  const open = { sessionId: "eval", attempt: 1, language: "en", vocabulary: [], interimResults };
  const reader = await SessionReader.open(
    { ...open, sparseCheckpoints: true },
    { recognisers, engine: POCKETSPHINX, createTracker },
  );
  const messages: TimedMessage[] = [];
  let clock = 0;
  let computeMs = 0;
  const run = (arrival: number): void => {
    clock = Math.max(clock, arrival);
    for (;;) {
      const begun = process.cpuUsage();
      const step = reader.step();
      const { user, system } = process.cpuUsage(begun);
      const took = (user + system) / 1_000;
      clock += took;
      computeMs += took;
      for (const message of step.messages) messages.push({ at: clock, message });
      if (step.idle || step.done) return;
    }
  };
  try {
    for (const chunk of pieces(pcm, pieceMs * SAMPLES_PER_MS)) {
      reader.enqueue({ $case: "chunk", value: chunk });
      run((chunk.start + chunk.length) / SAMPLES_PER_MS);
    }
    reader.enqueue({ $case: "finish", value: {} });
    run(clock);
  } finally {
    reader.close();
  }
  return { messages, voicedEnds: await voicedEndsOf(pcm), computeMs };
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

async function voicedEndsOf(pcm: Int16Array): Promise<number[]> {
  const activity = await VoiceActivity.create();
  const ends: number[] = [];
  for (let end = ACTIVITY_FRAME; end <= pcm.length; end += ACTIVITY_FRAME) {
    if (activity.isVoiced(pcm.subarray(end - ACTIVITY_FRAME, end))) ends.push(end);
  }
  activity.close();
  return ends;
}
