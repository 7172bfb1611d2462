import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import { backOff } from "../../../src/base/back-off.ts";
import { AppError } from "../../../src/base/errors.ts";
import type { SpeechEngine } from "../../../src/wire/speech-engines.ts";
import type { DeepgramSettings } from "../engine-schemas.ts";
import type { Hypothesis, RecognisedWord, Recogniser } from "../recogniser.ts";
import { StreamedUtterance } from "./streamed-utterance.ts";
import { StreamingConnection } from "./streaming-connection.ts";

const DEFAULTS = { utteranceMs: 60_000, retries: 3 };
const WAITS = { firstMs: 500, mostMs: 8_000, spreadMs: 250 };
/**
 * A server that has little left may say nothing to Finalize. After the first wait it is given a
 * second of silence, to which one that lives has something to say; after the second it is given up.
 */
const QUIET_MS = 1_500;
const SILENT_MS = 5_000;
const SILENCE = new Int16Array(SESSION_RATE);
/** A connection over which nothing is said for this long is closed, milliseconds. */
const IDLE_MS = 60_000;
const MOST_TERMS = 50;

/** What an engine of this kind is, by its settings. */
export function describeDeepgram(settings: DeepgramSettings): SpeechEngine {
  const [first, ...others] = settings.languages;
  const floor = settings.confidence_floor;
  return {
    name: settings.name,
    languages: [first ?? "en", ...others],
    streaming: true,
    wordTimes: true,
    punctuation: true,
    vocabulary: true,
    local: settings.local === true,
    model: { name: settings.model },
    ...(floor === undefined ? {} : { confidenceFloor: floor }),
    ...(settings.cost_per_hour === undefined ? {} : { costPerHour: settings.cost_per_hour }),
  };
}

/** One utterance on its way to the server, with its sound for another try. */
interface Attempted {
  readonly position: number;
  readonly blocks: Int16Array[];
  heard: StreamedUtterance;
  failures: number;
  /** True once the server was given silence because it said nothing. */
  isPoked?: boolean;
  /** Set when its audio is complete; the time of a monotonic clock until which an answer counts. */
  until?: number;
  isSettled?: true;
  error?: AppError;
}

/**
 * A client of Deepgram's streaming protocol, hosted or of a local server that speaks it. Utterances
 * are cut here, as for every engine; each is ended with Finalize, and its words are the final ones
 * that came until then. A connection that breaks in the middle is made anew and given the
 * utterance's sound again.
 */
export class DeepgramRecogniser implements Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  readonly confidenceFloor?: number;
  readonly #settings: DeepgramSettings;
  #language: string;
  #terms: string[] = [];
  #connection: StreamingConnection | undefined;
  /** Samples that the connection carried. */
  #streamed = 0;
  #utterance: Attempted | undefined;
  #timer: NodeJS.Timeout | undefined;
  #onNews: (() => void) | undefined;

  constructor(settings: DeepgramSettings) {
    this.#settings = settings;
    this.#language = settings.languages[0] ?? "en";
    this.engine = settings.name;
    this.engineVersion = settings.model;
    if (settings.confidence_floor !== undefined) this.confidenceFloor = settings.confidence_floor;
  }

  useLanguage(language: string): void {
    if (language !== this.#language) this.#disconnect();
    this.#language = language;
  }

  useVocabulary(phrases: readonly string[]): void {
    this.#terms = phrases.slice(0, MOST_TERMS);
    this.#disconnect();
  }

  start(position: number): void {
    this.discard();
    clearTimeout(this.#timer);
    this.#utterance = {
      position,
      blocks: [],
      heard: new StreamedUtterance(position, this.#streamed),
      failures: 0,
    };
    if (this.#connection === undefined) this.#connect(this.#utterance);
  }

  feed(pcm: Int16Array): void {
    const utterance = this.#utterance;
    if (utterance === undefined || pcm.length === 0) return;
    utterance.blocks.push(pcm);
    if (this.#connection !== undefined) this.#stream(utterance, pcm);
  }

  hypothesis(): Hypothesis {
    return { words: this.#utterance?.heard.hypothesis() ?? [] };
  }

  settle(): boolean {
    const utterance = this.#utterance;
    if (utterance === undefined) return true;
    if (utterance.until === undefined) {
      const { utterance_ms = DEFAULTS.utteranceMs } = this.#settings;
      utterance.until = performance.now() + utterance_ms;
      if (this.#connection !== undefined) this.#finalize(utterance);
    }
    return utterance.isSettled === true || utterance.error !== undefined;
  }

  onNews(listener: (() => void) | undefined): void {
    this.#onNews = listener;
  }

  finish(): RecognisedWord[] {
    const utterance = this.#utterance;
    this.#utterance = undefined;
    this.#rest();
    if (utterance?.error !== undefined) throw utterance.error;
    return utterance?.heard.words() ?? [];
  }

  discard(): void {
    // What was sent of it would be taken for a part of the next one.
    if (this.#utterance !== undefined) this.#disconnect();
    this.#utterance = undefined;
  }

  close(): void {
    this.discard();
    this.#disconnect();
  }

  #connect(utterance: Attempted): void {
    this.#streamed = 0;
    utterance.heard = new StreamedUtterance(utterance.position, 0);
    utterance.isPoked = false;
    const connection: StreamingConnection = new StreamingConnection({
      url: this.#url(),
      key: this.#settings.key,
      onMessage: (message) => {
        const current = this.#utterance;
        if (this.#connection !== connection || message.kind !== "results") return;
        if (current === undefined) return;
        current.heard.hear(message);
        if (current.until !== undefined) this.#settleIfComplete(current);
      },
      onLost: (reason, isRefused) => {
        if (this.#connection !== connection) return;
        this.#connection = undefined;
        clearTimeout(this.#timer);
        if (this.#utterance !== undefined) this.#failed(this.#utterance, reason, isRefused);
      },
    });
    this.#connection = connection;
    for (const block of utterance.blocks) this.#stream(utterance, block);
    if (utterance.until !== undefined) this.#finalize(utterance);
  }

  #stream(utterance: Attempted, pcm: Int16Array): void {
    this.#connection?.sound(pcm);
    this.#streamed += pcm.length;
    utterance.heard.sent(pcm.length);
  }

  #finalize(utterance: Attempted): void {
    this.#connection?.finalize();
    this.#awaitAnswer(utterance);
  }

  #awaitAnswer(utterance: Attempted): void {
    clearTimeout(this.#timer);
    const left = (utterance.until ?? 0) - performance.now();
    const wait = utterance.isPoked === true ? SILENT_MS : QUIET_MS;
    this.#timer = setTimeout(() => this.#nothingCame(utterance), Math.max(1, Math.min(wait, left)));
  }

  #nothingCame(utterance: Attempted): void {
    if (utterance.isPoked === true || performance.now() >= (utterance.until ?? 0)) {
      this.#disconnect();
      return this.#failed(utterance, "no answer in time", false);
    }
    utterance.isPoked = true;
    this.#connection?.sound(SILENCE);
    this.#streamed += SILENCE.length;
    this.#finalize(utterance);
  }

  #settleIfComplete(utterance: Attempted): void {
    if (utterance.heard.isComplete) this.#settled(utterance);
    else this.#awaitAnswer(utterance);
  }

  #failed(utterance: Attempted, reason: string, isRefused: boolean): void {
    const { retries = DEFAULTS.retries, name } = this.#settings;
    utterance.failures += 1;
    const wait = backOff(utterance.failures, WAITS, Math.random);
    const isLate = performance.now() + wait >= (utterance.until ?? Number.POSITIVE_INFINITY);
    if (isRefused || isLate || utterance.failures > retries) {
      utterance.error = new AppError(
        "engine_unavailable",
        `The engine "${name}" does not answer (${reason}); the audio is kept and is read later.`,
      );
      return this.#report();
    }
    this.#timer = setTimeout(() => {
      if (this.#utterance === utterance) this.#connect(utterance);
    }, wait);
  }

  #settled(utterance: Attempted): void {
    clearTimeout(this.#timer);
    utterance.isSettled = true;
    this.#report();
  }

  #report(): void {
    this.#onNews?.();
  }

  /** Between utterances. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#disconnect(), IDLE_MS);
    this.#timer.unref();
  }

  #disconnect(): void {
    clearTimeout(this.#timer);
    const connection = this.#connection;
    this.#connection = undefined;
    this.#streamed = 0;
    connection?.close();
  }

  #url(): URL {
    const { url: base, model, vocabulary_parameter = "keyterm" } = this.#settings;
    const url = new URL(base);
    const about = {
      model,
      language: this.#language,
      encoding: "linear16",
      sample_rate: String(SESSION_RATE),
      channels: "1",
      interim_results: "true",
      punctuate: "true",
    };
    for (const [name, value] of Object.entries(about)) url.searchParams.set(name, value);
    for (const term of this.#terms) url.searchParams.append(vocabulary_parameter, term);
    return url;
  }
}
