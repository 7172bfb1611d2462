import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import { toAppError } from "../../../src/base/errors.ts";
import { MOONSHINE } from "../../../src/wire/speech-engines.ts";
import { FeatureBlocks } from "../../inference/feature-blocks.ts";
import type { PendingInference, SessionInference } from "../../inference/inference-client.ts";
import type { RecognitionAnswer } from "../../inference/inference-protocol.ts";
import { joined } from "../open-utterance.ts";
import type { Hypothesis, RecognisedWord, Recogniser } from "../recogniser.ts";
import { AgreedPrefix } from "./agreed-prefix.ts";
import { beforeLoop, isInvented } from "./invention-guard.ts";
import { wordTimes } from "./word-times.ts";

/** Between the beginnings of two interim readings there is at least this, milliseconds. */
const SHORTEST_MS = 300;
/** However much there is to do. */
const LONGEST_MS = 2_000;
/** Between them there is so many times what the last one took where it waited, and where nothing else was to do. */
const PART = 4;
const IDLE_PART = 2;
/** A wait of this part of the time that a reading took is none: it takes some time to be told of it. */
const HARDLY = 1 / 4;

/**
 * When the next interim reading is due: so that readings take at most a quarter of the time, their
 * waits for an inference thread included, or half of it where they need not wait. So the pace stretches
 * as the load and the utterance grow.
 * A wait counts when the reading before waited as well: one that met a final by chance is no load.
 */
export class InterimPace {
  readonly #now: () => number;
  #askedAt = Number.NEGATIVE_INFINITY;
  #pace = SHORTEST_MS;
  #waitedMs = 0;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isDue(): boolean {
    return this.#now() - this.#askedAt >= this.#pace;
  }

  asked(): void {
    this.#askedAt = this.#now();
  }

  /** @param workMs what of the time since `asked` went into the networks for it, milliseconds */
  answered(workMs: number): void {
    const waitedMs = Math.max(0, this.#now() - this.#askedAt - workMs);
    const waits = Math.min(waitedMs, this.#waitedMs);
    this.#waitedMs = waitedMs;
    const part = waits < HARDLY * workMs ? IDLE_PART : PART;
    this.#pace = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, part * (workMs + waits)));
  }
}

/**
 * The first interim reading has this much sound, with the quarter of a second before the speech.
 * Of less the network makes words that it takes back.
 */
const LEAST_SOUND = 0.75 * SESSION_RATE;
/** And so much more than the reading before it, also the one in a pause: less tells nothing new. */
const LEAST_NEW = 0.25 * SESSION_RATE;

/** A final reading under way. */
interface FinalReading {
  readonly samples: number;
  readonly pending: PendingInference;
  answer?: RecognitionAnswer;
  error?: Error;
}

/**
 * Moonshine tiny, on the process's inference threads.
 *
 * A final is read freely, token by token, from the utterance's sound alone: what interim readings
 * found is not used, so that the same sound gives the same words however busy the machine was. To
 * be there sooner it begins in the pause, before it is certain that the utterance has ended.
 * Interim readings take over the words that two of them agreed on and check the rest.
 */
export class MoonshineRecogniser implements Recogniser {
  readonly engine = MOONSHINE.name;
  readonly engineVersion = "0.0.73";
  readonly confidenceFloor = MOONSHINE.confidenceFloor;
  readonly #client: SessionInference;
  readonly #agreed = new AgreedPrefix();
  readonly #pace: InterimPace;
  #phrases: readonly string[] = [];
  #position = 0;
  #sound: Int16Array[] = [];
  #samples = 0;
  /** How much of it the newest reading had. */
  #readTo = 0;
  /** What the networks made of the utterance's beginning, for its next reading. */
  #features: SharedArrayBuffer | undefined;
  #interim: PendingInference | undefined;
  #final: FinalReading | undefined;
  #onNews: (() => void) | undefined;

  /** @param now milliseconds of a monotonic clock, for the pace of interim readings */
  constructor(client: SessionInference, now?: () => number) {
    this.#client = client;
    this.#pace = new InterimPace(now);
  }

  useVocabulary(phrases: readonly string[]): void {
    this.#phrases = phrases;
  }

  start(position: number): void {
    this.discard();
    this.#position = position;
  }

  feed(pcm: Int16Array): void {
    if (pcm.length === 0) return;
    this.#sound.push(pcm);
    this.#samples += pcm.length;
  }

  mayEnd(): void {
    this.#dropInterim();
    this.#readFinally();
  }

  truncate(samples: number): void {
    this.#sound = [joined(this.#sound).slice(0, samples)];
    this.#samples = Math.min(samples, this.#samples);
  }

  hypothesis(): Hypothesis {
    this.#askInterim();
    const words = this.#agreed.words;
    const texts = words.map(({ text }) => text);
    const times = wordTimes(joined(this.#sound), texts);
    const placed = texts.map((text, at) => ({ text, ...this.#placed(times[at]), confidence: 0 }));
    return { words: placed, agreed: this.#agreed.agreed };
  }

  settle(): boolean {
    this.#dropInterim();
    const final = this.#readFinally();
    return final.answer !== undefined || final.error !== undefined;
  }

  onNews(listener: (() => void) | undefined): void {
    this.#onNews = listener;
  }

  finish(): RecognisedWord[] {
    const final = this.#final;
    const sound = joined(this.#sound);
    this.discard();
    if (final?.error !== undefined) throw final.error;
    if (final?.answer === undefined || isInvented(final.answer, sound.length)) return [];
    const { words } = final.answer;
    const times = wordTimes(
      sound,
      words.map(({ text }) => text),
    );
    return words.map(({ text, probability }, at) => {
      return { text, ...this.#placed(times[at]), confidence: probability };
    });
  }

  discard(): void {
    this.#dropInterim();
    this.#final?.pending.drop();
    this.#final = undefined;
    this.#sound = [];
    this.#samples = 0;
    this.#readTo = 0;
    // A reading that was dropped may still write to it, so another utterance has its own.
    this.#features = undefined;
    this.#agreed.restart();
  }

  close(): void {
    this.discard();
    this.#onNews = undefined;
  }

  #placed(span = { start: 0, end: 0 }): { start: number; end: number } {
    return { start: this.#position + span.start, end: this.#position + span.end };
  }

  #askInterim(): void {
    const least = Math.max(LEAST_SOUND, this.#readTo + LEAST_NEW);
    if (this.#interim !== undefined || this.#samples < least || !this.#pace.isDue) return;
    const samples = this.#samples;
    this.#readTo = samples;
    this.#features ??= FeatureBlocks.allocate();
    const interim = this.#client.read({
      pcm: joined(this.#sound),
      features: this.#features,
      isFinal: false,
      agreed: this.#agreed.tokens,
      draft: this.#agreed.draft,
      // Looking for phrases takes longer than an interim result may.
      phrases: [],
    });
    this.#interim = interim;
    this.#pace.asked();
    const answered = (answer: RecognitionAnswer | undefined): void => {
      if (this.#interim !== interim) return;
      this.#interim = undefined;
      this.#pace.answered(answer?.workMs ?? 0);
      if (answer !== undefined) this.#show(answer.isEndless ? beforeLoop(answer) : answer, samples);
    };
    // One that failed is tried again with the next pace; a final tells of it.
    interim.answer.then(answered, () => answered(undefined));
  }

  /** Reads all of the sound so far, unless that is under way. */
  #readFinally(): FinalReading {
    if (this.#final?.samples === this.#samples) return this.#final;
    this.#final?.pending.drop();
    const pending = this.#client.read({
      pcm: joined(this.#sound),
      features: this.#features,
      isFinal: true,
      agreed: [],
      draft: [],
      phrases: this.#phrases,
    });
    const final: FinalReading = { samples: this.#samples, pending };
    this.#final = final;
    this.#readTo = this.#samples;
    pending.answer.then(
      (answer) => {
        if (this.#final !== final || answer === undefined) return;
        final.answer = answer;
        this.#show(answer, final.samples);
      },
      (error: unknown) => {
        final.error = toAppError(error);
        if (this.#final === final) this.#onNews?.();
      },
    );
    return final;
  }

  #show(answer: RecognitionAnswer, samples: number): void {
    if (!isInvented(answer, samples)) this.#agreed.push(answer, samples);
    this.#onNews?.();
  }

  #dropInterim(): void {
    this.#interim?.drop();
    this.#interim = undefined;
  }
}
