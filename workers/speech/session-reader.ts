import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { AppError } from "../../src/base/errors.ts";
import type { Checkpoint, Open, Opened } from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import { OpusCodec } from "../audio/opus-codec.ts";
import { Resampler } from "../audio/resampler.ts";
import { type AudioEvent, SessionAudio } from "../audio/session-audio.ts";
import { VoiceActivity } from "../audio/voice-activity.ts";
import type { SpeakerTracker } from "../speakers/speaker-tracker.ts";
import { MeteredRecogniser } from "./metered-recogniser.ts";
import type { Reader, ReaderStep, RequestMessage, ResponseMessage } from "./reader.ts";
import { decodeReaderState, encodeReaderState, type ReaderState } from "./reader-state.ts";
import type { Recogniser } from "./recogniser.ts";
import type { RecogniserPool } from "./recogniser-pool.ts";
import { toUpdate, UtteranceReader } from "./utterance-reader.ts";

interface SessionReaderOptions {
  recognisers: RecogniserPool;
  /** Languages of the recognisers, as primary subtags; the first is the default. */
  languages: SpeechEngine["languages"];
  createTracker: (checkpoint?: Uint8Array) => SpeakerTracker;
}

/** With more audio than this waiting, 1 s, hypotheses are skipped until it is read. */
const PRESSED_SAMPLES = SESSION_RATE;

interface Tools {
  recogniser: Recogniser;
  activity: VoiceActivity;
  codec: OpusCodec;
  /** Language of the reading, as a primary subtag. */
  language: string;
}

/**
 * The reading of one session inside a worker thread: takes chunks, returns hypotheses, finals and
 * speakers. Holds one recogniser from `open` to `close`.
 */
export class SessionReader implements Reader {
  readonly opened: Opened;
  readonly #deps: SessionReaderOptions;
  readonly #recogniser: Recogniser;
  readonly #metered: MeteredRecogniser;
  readonly #activity: VoiceActivity;
  readonly #tracker: SpeakerTracker;
  readonly #audio: SessionAudio;
  readonly #utterances: UtteranceReader;
  #done = false;
  #broken = false;
  #closed = false;

  /**
   * Opens a reading when a recogniser is free. Rejects with AppError `overloaded` when none becomes
   * free, `bad_request` for another language or an invalid checkpoint, `unavailable` when the
   * engine cannot be loaded. `vocabulary` is accepted but has no effect on this engine.
   */
  static async open(open: Open, deps: SessionReaderOptions): Promise<SessionReader> {
    const language = languageOf(open.language, deps.languages);
    const state = open.checkpoint && decodeReaderState(open.checkpoint.recogniser);
    await Resampler.load();
    const codec = await OpusCodec.load();
    const activity = await VoiceActivity.create();
    let recogniser: Recogniser | undefined;
    try {
      recogniser = await deps.recognisers.take();
      return new SessionReader(open, deps, { recogniser, activity, codec, language }, state);
    } catch (error) {
      activity.close();
      if (recogniser !== undefined) deps.recognisers.give(recogniser);
      throw error instanceof RangeError ? badCheckpoint(error) : error;
    }
  }

  private constructor(
    open: Open,
    deps: SessionReaderOptions,
    { recogniser, activity, codec, language }: Tools,
    state: ReaderState | undefined,
  ) {
    const position = open.checkpoint?.position ?? 0;
    this.#deps = deps;
    this.#recogniser = recogniser;
    this.#metered = new MeteredRecogniser(recogniser);
    this.#activity = activity;
    this.#tracker = deps.createTracker(open.checkpoint?.speakers);
    if (state !== undefined) {
      recogniser.restore(state.recogniser);
      activity.restore(state.activity);
    }
    this.#audio = new SessionAudio(position, state?.phases, codec);
    const { interimResults } = open;
    const tracker = this.#tracker;
    const checkpointAt = (at: number): Checkpoint => this.#checkpoint(at);
    this.#utterances = new UtteranceReader({
      position,
      recogniser: this.#metered,
      activity,
      tracker,
      interimResults,
      pauses: state?.pauses,
      isPressed: () => this.queuedSamples() > PRESSED_SAMPLES,
      sparseCheckpoints: open.sparseCheckpoints === true,
      checkpointAt,
    });
    this.opened = {
      engine: recogniser.engine,
      engineVersion: recogniser.engineVersion,
      diarisationModelVersion: tracker.modelVersion,
      detectedLanguage: language,
    };
  }

  /** Takes a chunk, gap, finalize or finish. Throws AppError `bad_request` for an invalid one. */
  enqueue(message: RequestMessage): void {
    switch (message.$case) {
      case "chunk":
        requireSpan(message.value);
        return this.#audio.pushChunk(message.value);
      case "gap":
        requireSpan(message.value);
        return this.#audio.pushGap(message.value);
      case "finalize":
      case "finish":
        return this.#audio.pushMark(message.$case);
      case "open":
        throw new AppError("bad_request", "The session is open already.");
    }
  }

  get engineMs(): number {
    return this.#metered.workMs;
  }

  queuedSamples(): number {
    return this.#audio.queuedSamples();
  }

  /** Processes at most 100 ms of audio, or the final speaker pass. */
  step(): ReaderStep {
    if (this.#done || this.#closed) return { messages: [], idle: true, done: this.#done };
    try {
      if (this.#utterances.isBehind) {
        this.#utterances.catchUp();
        return { messages: this.#utterances.takeMessages(), idle: false, done: false };
      }
      const event = this.#audio.next();
      if (event === undefined) return { messages: [], idle: true, done: false };
      const messages = this.#handle(event);
      return { messages, idle: false, done: this.#done };
    } catch (error) {
      this.#broken = true;
      throw error;
    }
  }

  /** Returns the recogniser. Words that are not final yet are lost. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#audio.close();
    this.#activity.close();
    this.#deps.recognisers.give(this.#recogniser, this.#broken);
  }

  #handle(event: AudioEvent): ResponseMessage[] {
    switch (event.kind) {
      case "samples":
        this.#utterances.samples(event.pcm);
        return this.#utterances.takeMessages();
      case "missing":
        this.#utterances.missing(event.end, event.isGap);
        return this.#utterances.takeMessages();
      case "finalize":
        this.#utterances.finalize();
        return this.#utterances.takeMessages();
      case "failed": {
        const { sequence, code, message } = event;
        return [{ $case: "chunkFailed", value: { sequence, code, message } }];
      }
      case "finish":
        return this.#finish();
    }
  }

  #finish(): ResponseMessage[] {
    this.#utterances.finish();
    const speakers = toUpdate(this.#tracker.finalPass(), true);
    this.#done = true;
    const finalisedTo = this.#utterances.position;
    const messages = this.#utterances.takeMessages();
    return [...messages, { $case: "done", value: { finalisedTo, speakers } }];
  }

  #checkpoint(position: number): Checkpoint {
    const recogniser = encodeReaderState({
      recogniser: this.#recogniser.state(),
      activity: this.#activity.state(),
      pauses: this.#utterances.pauses(),
      phases: this.#audio.phasesAt(position),
    });
    const speakers = Buffer.from(this.#tracker.checkpoint());
    return { position, recogniser, speakers, clusters: { ids: this.#tracker.clusters() } };
  }
}

/** The language for a reading that asks for `tag`; an empty tag means the default. */
function languageOf(tag: string, languages: SpeechEngine["languages"]): string {
  if (tag === "") return languages[0];
  const primary = tag.split("-")[0]?.toLowerCase();
  const language = languages.find((each) => each === primary);
  if (language !== undefined) return language;
  throw new AppError("bad_request", `This engine does not read "${tag}".`);
}

function requireSpan({ start, length }: { start: number; length: number }): void {
  if (Number.isSafeInteger(start + length) && start >= 0 && length >= 0) return;
  throw new AppError("bad_request", "A chunk or gap needs a start and a length in samples.");
}

function badCheckpoint(cause: unknown): AppError {
  return new AppError("bad_request", "The checkpoint is none of this worker's.", { cause });
}
