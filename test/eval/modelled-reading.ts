import { setImmediate } from "node:timers/promises";
import { SAMPLES_PER_MS, SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { createDeferred } from "../../src/base/deferred.ts";
import { SpeechActivity } from "../../workers/audio/speech-activity.ts";
import type {
  PendingInference,
  SessionInference,
} from "../../workers/inference/inference-client.ts";
import type { RecognitionAnswer } from "../../workers/inference/inference-protocol.ts";
import { ChannelTracker } from "../../workers/speech/channel-tracker.ts";
import { MoonshineRecogniser } from "../../workers/speech/moonshine/moonshine-recogniser.ts";
import { UtteranceReader } from "../../workers/speech/utterance-reader.ts";
import type { RunningEngine } from "../support/moonshine-engine.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type LiveReading, type TimedMessage, voicedEndsOf } from "./live-reading.ts";

/**
 * What a reading takes on a quiet machine: some for each, for each second of sound, for each token. Measured with the
 * publisher's graphs, less what the rewritten ones were found to save beside them on another machine.
 */
const FIXED_MS = 8;
const SECOND_MS = 6.5;
const TOKEN_MS = 2.2;
const TOKEN_SECOND_MS = 0.1;
const STEP_MS = 5;
const PIECE_MS = 100;
/** What one that meets something else takes more: at least, and up to so much on top. */
const LATE_MS = 200;
const LATE_MORE_MS = 300;

/** The networks by a clock of its own: the answers are their own, the time that they take is the model above. */
class ModelledInference implements SessionInference {
  clock = 0;
  workMs = 0;
  readonly #engine: RunningEngine;
  readonly #random: SeededRandom;
  readonly #lateShare: number;
  readonly #asked: Promise<void>[] = [];
  readonly #answers = new Set<{ at: number; settle: () => void }>();

  constructor(engine: RunningEngine, lateShare: number, seed: number) {
    this.#engine = engine;
    this.#lateShare = lateShare;
    this.#random = new SeededRandom(seed);
  }

  read(request: Parameters<SessionInference["read"]>[0]): PendingInference {
    const seconds = request.pcm.length / SESSION_RATE;
    const given = request.agreed.length;
    const askedAt = this.clock;
    const answer = createDeferred<RecognitionAnswer | undefined>();
    const found = this.#engine.read(request).answer.then((found) => {
      if (found === undefined) return answer.resolve(undefined);
      const each = TOKEN_MS + TOKEN_SECOND_MS * seconds;
      const workMs = FIXED_MS + SECOND_MS * seconds + each * (found.tokens.length - given);
      const isLate = this.#random.next() < this.#lateShare;
      const lateMs = isLate ? LATE_MS + LATE_MORE_MS * this.#random.next() : 0;
      this.workMs += workMs;
      const settle = (): void => answer.resolve({ ...found, workMs });
      this.#answers.add({ at: askedAt + workMs + lateMs, settle });
    });
    this.#asked.push(found);
    return { answer: answer.promise, drop: () => answer.resolve(undefined) };
  }

  hear(): never {
    throw new Error("voices are not modelled");
  }

  get isBusy(): boolean {
    return this.#asked.length + this.#answers.size > 0;
  }

  /** Gives the answers that are there by the clock. */
  async answer(): Promise<void> {
    await Promise.all(this.#asked.splice(0));
    for (const each of this.#answers) {
      if (each.at > this.clock) continue;
      this.#answers.delete(each);
      each.settle();
      await setImmediate();
    }
  }
}

/**
 * Reads a recording live by that clock, so that the pace of interim results can be judged on a
 * machine that is busy with other things.
 *
 * @param lateShare of the readings that meet something else and take 200 to 500 ms more, 0..1
 * @param phaseMs silence before the recording, so that several runs meet its words differently
 */
export async function readModelled(
  engine: RunningEngine,
  sound: Int16Array,
  { lateShare, phaseMs }: { lateShare: number; phaseMs: number },
): Promise<LiveReading> {
  const pcm = new Int16Array(sound.length + phaseMs * SAMPLES_PER_MS);
  pcm.set(sound, phaseMs * SAMPLES_PER_MS);
  const inference = new ModelledInference(engine, lateShare, phaseMs + 1);
  const recogniser = new MoonshineRecogniser(inference, () => inference.clock);
  let hasNews = false;
  recogniser.onNews(() => {
    hasNews = true;
  });
  const reader = new UtteranceReader({
    ...{ position: 0, recogniser, activity: new SpeechActivity(), tracker: new ChannelTracker(1) },
    ...{ interimResults: true, pauses: undefined, sparseCheckpoints: true },
    isPressed: () => false,
  });
  const messages: TimedMessage[] = [];
  const endMs = pcm.length / SAMPLES_PER_MS;
  for (; inference.clock < endMs + PIECE_MS || inference.isBusy; inference.clock += STEP_MS) {
    const { clock } = inference;
    if (clock > 0 && clock <= endMs && clock % PIECE_MS === 0) {
      const end = clock * SAMPLES_PER_MS;
      reader.samples(pcm.slice(end - PIECE_MS * SAMPLES_PER_MS, end));
    }
    await inference.answer();
    if (hasNews) reader.showHypothesis();
    hasNews = false;
    while (reader.isBehind && !reader.isPending) reader.catchUp();
    for (const message of reader.takeMessages()) messages.push({ at: clock, message });
  }
  recogniser.close();
  return { messages, voicedEnds: voicedEndsOf(pcm), computeMs: inference.workMs };
}
