import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { MAX_CHANNELS } from "../../src/base/audio/wav.ts";
import { loadDecoders } from "../../src/base/codecs/sound-reader.ts";
import { AppError } from "../../src/base/errors.ts";
import type { Checkpoint, Open, Opened } from "../../src/wire/gen/voice/v1/worker.ts";
import {
  knowsLanguage,
  primaryLanguage,
  type SpeechEngine,
} from "../../src/wire/speech-engines.ts";
import { OpusCodec } from "../audio/opus-codec.ts";
import { Resampler } from "../audio/resampler.ts";
import { type AudioEvent, SessionAudio } from "../audio/session-audio.ts";
import { SpeechActivity } from "../audio/speech-activity.ts";
import type { SpeakerTracker } from "../speakers/speaker-tracker.ts";
import { ChannelReaders } from "./channel-readers.ts";
import { ChannelTracker } from "./channel-tracker.ts";
import { MeteredRecogniser, type WaitMeter } from "./metered-recogniser.ts";
import { toUpdate } from "./open-utterance.ts";
import type { Reader, ReaderStep, RequestMessage, ResponseMessage } from "./reader.ts";
import {
  type ChannelsState,
  decodeChannelsState,
  decodeReaderState,
  encodeChannelsState,
  encodeReaderState,
  type ReaderState,
} from "./reader-state.ts";
import type { Recogniser } from "./recogniser.ts";
import { UtteranceReader } from "./utterance-reader.ts";

interface SessionReaderOptions {
  engine: SpeechEngine;
  /** Makes a recogniser of the engine. */
  createRecogniser: () => Promise<Recogniser>;
  createTracker: (checkpoint?: Uint8Array) => SpeakerTracker;
}

/** With more audio than this waiting, 1 s, hypotheses are skipped until it is read. */
const PRESSED_SAMPLES = SESSION_RATE;

interface Tools {
  /** One of both for each channel that is read by itself. */
  recognisers: MeteredRecogniser[];
  activities: SpeechActivity[];
  codec: OpusCodec;
  /** Language of the reading, as a primary subtag. */
  language: string;
}

/** The audio of one reading, from samples to messages. */
interface Sound {
  readonly audio: SessionAudio;
  readonly tracker: SpeakerTracker;
  readonly utterances: UtteranceReader | ChannelReaders;
  readonly voicesWait?: WaitMeter;
  /** Asks on in a pause, where one answer led to another question. */
  readonly askForVoices?: () => void;
  /** The state at `position`, where no utterance is under way. */
  checkpointAt(position: number, activity: Uint8Array): Buffer;
}

/**
 * The reading of one session inside a worker thread: takes chunks, returns hypotheses, finals and
 * speakers. Holds its recognisers from `open` to `close`.
 */
export class SessionReader implements Reader {
  readonly opened: Opened;
  readonly #deps: SessionReaderOptions;
  readonly #recognisers: readonly MeteredRecogniser[];
  readonly #tracker: SpeakerTracker;
  readonly #audio: SessionAudio;
  readonly #utterances: UtteranceReader | ChannelReaders;
  readonly #voicesWait: WaitMeter | undefined;
  readonly #askForVoices: Sound["askForVoices"];
  readonly #state: Sound["checkpointAt"];
  /** An event that waits until the utterances before it have ended. */
  #next: AudioEvent | undefined;
  #done = false;
  /** True when an engine has new words to show. */
  #hasNews = false;
  #closed = false;

  /**
   * Opens a reading. Rejects with AppError `bad_request` for another language, more channels than
   * can be read or an invalid checkpoint, `unavailable` when the engine cannot be loaded.
   */
  static async open(open: Open, deps: SessionReaderOptions): Promise<SessionReader> {
    const language = languageOf(open, deps.engine);
    const channels = channelsOf(open);
    const states = statesOf(open);
    await Promise.all([Resampler.load(), loadDecoders()]);
    const codec = await OpusCodec.load(channels > 1 ? 2 : 1);
    const recognisers: MeteredRecogniser[] = [];
    try {
      while (recognisers.length < channels) {
        recognisers.push(new MeteredRecogniser(await deps.createRecogniser()));
      }
      for (const recogniser of recognisers) {
        recogniser.useLanguage(language);
        if (open.vocabulary.length > 0) recogniser.useVocabulary(open.vocabulary);
      }
      const activities = recognisers.map(() => new SpeechActivity());
      return new SessionReader(open, deps, { recognisers, activities, codec, language }, states);
    } catch (error) {
      for (const recogniser of recognisers) recogniser.close();
      throw error instanceof RangeError ? badCheckpoint(error) : error;
    }
  }

  private constructor(open: Open, deps: SessionReaderOptions, tools: Tools, states: States) {
    const { recognisers, language } = tools;
    const [recogniser] = recognisers;
    if (recogniser === undefined) throw new Error("a recogniser is missing");
    this.#deps = deps;
    this.#recognisers = recognisers;
    const sound = open.speakerChannels
      ? this.#channels(open, tools, states.channels)
      : this.#mixed(open, tools, states.mixed);
    this.#audio = sound.audio;
    this.#tracker = sound.tracker;
    this.#utterances = sound.utterances;
    this.#voicesWait = sound.voicesWait;
    this.#askForVoices = sound.askForVoices;
    this.#state = sound.checkpointAt;
    this.opened = {
      engine: recogniser.engine,
      engineVersion: recogniser.engineVersion,
      diarisationModelVersion: sound.tracker.modelVersion,
      detectedLanguage: language,
      ...(deps.engine.local ? {} : { soundLeaves: true }),
    };
  }

  /** The channels are mixed to one, and voices are told apart in it. */
  #mixed(open: Open, { recognisers, activities, codec }: Tools, state?: ReaderState): Sound {
    const position = open.checkpoint?.position ?? 0;
    const [activity] = activities;
    const [recogniser] = recognisers;
    if (activity === undefined || recogniser === undefined) throw new Error("a part is missing");
    if (state !== undefined) activity.restore(state.activity);
    const audio = new SessionAudio(position, state?.phases, codec);
    const tracker = this.#deps.createTracker(open.checkpoint?.speakers);
    const utterances = new UtteranceReader({
      position,
      recogniser,
      activity,
      tracker,
      interimResults: open.interimResults,
      pauses: state?.pauses,
      isPressed: () => this.#isPressed,
      sparseCheckpoints: open.sparseCheckpoints === true,
      checkpointAt: (at, activity) => this.#checkpoint(at, activity),
    });
    const checkpointAt = (at: number, activity: Uint8Array): Buffer =>
      encodeReaderState({
        activity,
        pauses: utterances.pauses(),
        phases: audio.phasesAt(at),
      });
    const { voicesWait } = utterances;
    const askForVoices = (): void => utterances.askForVoices();
    return { audio, tracker, utterances, voicesWait, askForVoices, checkpointAt };
  }

  /** Each channel is one speaker. */
  #channels(open: Open, tools: Tools, state?: ChannelsState): Sound {
    const { recognisers, activities, codec } = tools;
    const position = open.checkpoint?.position ?? 0;
    const audio = new SessionAudio(position, state?.phases, codec, activities.length);
    const utterances = new ChannelReaders({
      position,
      recognisers,
      activities,
      states: state?.channels ?? [],
      interimResults: open.interimResults,
      isPressed: () => this.#isPressed,
      checkpointAt: (at) => this.#checkpoint(at, new Uint8Array(0)),
    });
    const checkpointAt = (at: number): Buffer =>
      encodeChannelsState({ channels: utterances.states(), phases: audio.phasesAt(at) });
    return { audio, tracker: new ChannelTracker(activities.length), utterances, checkpointAt };
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
      case "finalize": {
        const { unlessSpeaking } = message.value;
        return this.#audio.pushMark({ kind: "finalize", unlessSpeaking });
      }
      case "finish":
        return this.#audio.pushMark({ kind: "finish" });
      case "open":
        throw new AppError("bad_request", "The session is open already.");
    }
  }

  get engineMs(): number {
    const voicesMs = this.#voicesWait?.ms ?? 0;
    return this.#recognisers.reduce((sum, { workMs }) => sum + workMs, voicesMs);
  }

  onReady(listener: () => void): void {
    const tell = (): void => {
      this.#hasNews = true;
      listener();
    };
    for (const recogniser of this.#recognisers) recogniser.onNews(tell);
    this.#tracker.onNews?.(listener);
  }

  get heardTo(): number {
    return this.#utterances.heardTo;
  }

  queuedSamples(): number {
    return this.#audio.queuedSamples();
  }

  get isUrgent(): boolean {
    return !this.#isPressed && this.#utterances.isEnding;
  }

  get #isPressed(): boolean {
    return this.queuedSamples() > PRESSED_SAMPLES;
  }

  /** Processes at most 100 ms of audio, or the final speaker pass. */
  step(): ReaderStep {
    if (this.#done || this.#closed) return { messages: [], idle: true, done: this.#done };
    if (this.#hasNews) {
      this.#hasNews = false;
      this.#utterances.showHypothesis();
    }
    if (this.#utterances.isPending) {
      const messages = this.#utterances.takeMessages();
      return { messages, idle: true, done: false, waits: true };
    }
    if (this.#utterances.isBehind) {
      this.#utterances.catchUp();
      return { messages: this.#utterances.takeMessages(), idle: false, done: false };
    }
    const event = this.#next ?? this.#audio.next();
    this.#next = undefined;
    const isCut = event?.kind === "finalize";
    const isHeld = isCut && event.unlessSpeaking === true && this.#utterances.isSpeaking;
    if (isHeld) return { messages: this.#utterances.takeMessages(), idle: false, done: false };
    if (event !== undefined && isBreak(event) && !this.#utterances.breakOff(isCut)) {
      this.#next = event;
      return { messages: this.#utterances.takeMessages(), idle: false, done: false };
    }
    if (event === undefined) {
      this.#askForVoices?.();
      return { messages: this.#utterances.takeMessages(), idle: true, done: false };
    }
    const messages = this.#handle(event);
    return { messages, idle: false, done: this.#done };
  }

  /** Closes the recognisers. Words that are not final yet are lost. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#audio.close();
    for (const recogniser of this.#recognisers) recogniser.close();
    this.#tracker.close?.();
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
        this.#utterances.progress();
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

  #checkpoint(position: number, activity: Uint8Array): Checkpoint {
    const recogniser = this.#state(position, activity);
    const speakers = Buffer.from(this.#tracker.checkpoint());
    return { position, recogniser, speakers, clusters: { ids: this.#tracker.clusters() } };
  }
}

/** True for an event before which all utterances end. */
function isBreak({ kind }: AudioEvent): boolean {
  return kind === "missing" || kind === "finalize" || kind === "finish";
}

interface States {
  mixed?: ReaderState;
  channels?: ChannelsState;
}

function statesOf({ checkpoint, speakerChannels }: Open): States {
  if (checkpoint === undefined) return {};
  if (speakerChannels) return { channels: decodeChannelsState(checkpoint.recogniser) };
  return { mixed: decodeReaderState(checkpoint.recogniser) };
}

/** How many channels are read by themselves. */
function channelsOf({ speakerChannels = 0 }: Open): number {
  if (speakerChannels <= MAX_CHANNELS) return Math.max(1, speakerChannels);
  throw new AppError("bad_request", `A reading has at most ${MAX_CHANNELS} channels.`);
}

/** The language of a reading, as a primary subtag; an empty tag means the engine's default. */
function languageOf({ language: tag }: Open, engine: SpeechEngine): string {
  if (tag === "") return engine.languages[0];
  if (knowsLanguage(engine, tag)) return primaryLanguage(tag);
  throw new AppError("bad_request", `The engine ${engine.name} does not read "${tag}".`);
}

function requireSpan({ start, length }: { start: number; length: number }): void {
  if (Number.isSafeInteger(start + length) && start >= 0 && length >= 0) return;
  throw new AppError("bad_request", "A chunk or gap needs a start and a length in samples.");
}

function badCheckpoint(cause: unknown): AppError {
  return new AppError("bad_request", "The checkpoint is none of this worker's.", { cause });
}
