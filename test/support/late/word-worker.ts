import { AppError } from "../../../src/base/errors.ts";
import type {
  TranscribeMessage,
  TranscribeResult,
  Transcribers,
  TranscriptionStream,
} from "../../../src/inference/transcription-stream.ts";
import { SAMPLE_RATE } from "../../../src/session/timeline.ts";
import type { Segment, SpeakerUpdate } from "../../../src/wire/gen/voice/v1/worker.ts";
import { fromSound, type SpokenWord } from "./spoken-words.ts";

const BLOCK = SAMPLE_RATE / 10;
const PAUSE = 0.4 * SAMPLE_RATE;
const LEAD = 0.3 * SAMPLE_RATE;

interface Heard {
  word: SpokenWord;
  /** In the reading. */
  start: number;
  samples: number;
}

interface Sound {
  start: number;
  end: number;
  /** Which samples of the recording; undefined for none. */
  from: number | undefined;
  /** The utterance in hand ends before it. */
  isEnd?: boolean;
}

/** A worker that hears which samples of a recording it is fed, and says the words that they hold. */
export class WordWorker implements Transcribers {
  readonly streams: WordStream[] = [];
  /** Readings that get no time for now. */
  readonly resting = new Set<WordStream>();
  /** Places for readings. */
  capacity = Number.POSITIVE_INFINITY;
  /** Other sessions wait for a place. */
  isCrowded = false;
  /** The final pass of readings that begin from here on, over all segments that they told. */
  finalPass: ((told: readonly Segment[]) => SpeakerUpdate) | undefined;
  readonly #words: readonly SpokenWord[];

  constructor(words: readonly SpokenWord[]) {
    this.#words = words;
  }

  open(): TranscriptionStream {
    if (this.placesTaken >= this.capacity) throw new AppError("overloaded", "No place is free.");
    const stream = new WordStream(this.#words, this.finalPass);
    this.streams.push(stream);
    return stream;
  }

  /** Readings that have a place. */
  get placesTaken(): number {
    return this.streams.filter(({ isOver }) => !isOver).length;
  }

  /** Some work of each reading; false when there was none. */
  step(): boolean {
    const working = this.streams.filter((stream) => !this.resting.has(stream));
    return working.map((stream) => stream.step()).includes(true);
  }

  /** Samples of sound that readings but the first were sent. */
  get readAgain(): number {
    return this.streams
      .filter(({ attempt }) => attempt > 1)
      .reduce((sum, { sent }) => sum + sent, 0);
  }
}

export class WordStream implements TranscriptionStream {
  attempt = 0;
  /** Samples of sound that it was sent. */
  sent = 0;
  readonly #words: readonly SpokenWord[];
  #onMessage: (message: TranscribeResult) => void = () => {};
  #onEnd: (error: undefined) => void = () => {};
  #queue: Sound[] = [];
  #opened = false;
  #position = 0;
  #floor = 0;
  #told = 0;
  #heard: Heard[] = [];
  /** Speakers by cluster. */
  #voices: number[] = [];
  #finishing = false;
  #isOver = false;
  readonly #all: Segment[] = [];
  readonly #finalPass: WordWorker["finalPass"];

  constructor(words: readonly SpokenWord[], finalPass: WordWorker["finalPass"]) {
    this.#words = words;
    this.#finalPass = finalPass;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  send(message: TranscribeMessage): boolean {
    if (message.$case === "open") {
      const { attempt, checkpoint } = message.value;
      this.attempt = attempt;
      this.#position = checkpoint?.position ?? 0;
      this.#floor = this.#position;
      this.#told = this.#position;
      this.#voices = [...(checkpoint?.speakers ?? [])];
      this.#opened = true;
    } else if (message.$case === "gap") {
      const { start, length } = message.value;
      this.#queue.push({ start, end: start + length, from: undefined });
    } else if (message.$case === "chunk") {
      const { start, length, data } = message.value;
      const sound = fromSound(data);
      const samples = Math.min(length, sound.samples);
      this.sent += samples;
      this.#queue.push({ start, end: start + samples, from: sound.from });
    } else if (message.$case === "finalize") {
      this.#queue.push({ start: 0, end: 0, from: undefined, isEnd: true });
    } else if (message.$case === "finish") this.#finishing = true;
    return true;
  }

  onMessage(listener: (message: TranscribeResult) => void): void {
    this.#onMessage = listener;
  }

  onDrain(): void {}

  onEnd(listener: (error: undefined) => void): void {
    this.#onEnd = listener;
  }

  finish(): void {}

  cancel(): void {
    this.#isOver = true;
  }

  /** A second of sound at most. */
  step(): boolean {
    if (this.#isOver || this.attempt === 0) return false;
    if (this.#opened) {
      this.#opened = false;
      const engine = { engine: "words", engineVersion: "1", detectedLanguage: "en" };
      this.#tell({ $case: "opened", value: { ...engine, diarisationModelVersion: "words" } });
      return true;
    }
    const [sound] = this.#queue;
    if (sound !== undefined) {
      this.#read(sound);
      return true;
    }
    if (!this.#finishing) return false;
    this.#end();
    this.#progress();
    this.#isOver = true;
    const value = { finalisedTo: this.#position, speakers: this.#finalPass?.(this.#all) };
    this.#onMessage({ $case: "done", value });
    this.#onEnd(undefined);
    return true;
  }

  #read(sound: Sound): void {
    const end = Math.min(sound.end, this.#position + SAMPLE_RATE);
    if (sound.isEnd) this.#end();
    if (sound.end <= this.#position) this.#queue.shift();
    else if (sound.from === undefined) {
      this.#end();
      this.#position = sound.end;
      this.#floor = sound.end;
      this.#progress();
      this.#queue.shift();
    } else {
      // Sound before where it begins is only there for what follows.
      this.#position = Math.max(this.#position, sound.start);
      const offset = sound.from - sound.start;
      while (this.#position < end && !this.#isOver) {
        this.#block(offset, Math.min(BLOCK, end - this.#position));
      }
      if (this.#position >= sound.end) this.#queue.shift();
    }
  }

  #block(offset: number, length: number): void {
    const from = this.#position + offset;
    this.#position += length;
    for (const word of this.#within(from, from + length)) {
      const start = Math.max(word.start, from);
      const samples = Math.min(word.end, from + length) - start;
      const known = this.#heard.at(-1);
      if (known?.word === word) known.samples += samples;
      else this.#heard.push({ word, start: start - offset, samples });
    }
    const last = this.#heard.at(-1);
    if (last !== undefined && this.#position - last.start - last.samples >= PAUSE) this.#end();
    if (this.#position - this.#told >= SAMPLE_RATE) this.#progress();
  }

  *#within(from: number, to: number): Generator<SpokenWord> {
    let low = 0;
    let high = this.#words.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#words[middle]?.end ?? 0) > from) high = middle;
      else low = middle + 1;
    }
    for (let at = low; at < this.#words.length; at += 1) {
      const word = this.#words[at];
      if (word === undefined || word.start >= to) return;
      yield word;
    }
  }

  #end(): void {
    const [first] = this.#heard;
    if (first === undefined) return;
    const segments = this.#segments();
    this.#all.push(...segments.map((segment) => ({ ...segment })));
    this.#heard = [];
    this.#floor = this.#position;
    const checkpoint = {
      position: this.#position,
      recogniser: Buffer.alloc(0),
      speakers: Buffer.from(this.#voices),
    };
    const value = { start: first.start, end: this.#position, segments, checkpoint };
    this.#tell({ $case: "utterance", value: { ...value, speakers: undefined } });
  }

  /** One for each turn of a speaker, in which the one before speaks on. A word of which too little was heard is none. */
  #segments(): Segment[] {
    const segments: Segment[] = [];
    let speaker: number | undefined;
    for (const { word, start, samples } of this.#heard) {
      const length = word.end - word.start;
      if (2 * samples < length) continue;
      const text = samples === length ? word.text : `${word.text}~`;
      const spoken = { text, start, end: start + samples, confidence: 1 };
      if (word.speaker !== speaker || segments.length === 0) {
        speaker = word.speaker;
        const cluster = this.#cluster(speaker);
        const sure = { confidence: 1, speakerConfidence: 0.8 };
        const before = segments.at(-1);
        const overlaps = before ? [{ start, end: start + 1, cluster: before.cluster }] : [];
        segments.push({ start, end: spoken.end, words: [], ...sure, cluster, overlaps });
      }
      const segment = segments.at(-1);
      segment?.words.push(spoken);
      if (segment !== undefined) segment.end = spoken.end;
    }
    return segments;
  }

  #cluster(speaker: number): number {
    if (!this.#voices.includes(speaker)) this.#voices.push(speaker);
    return this.#voices.indexOf(speaker);
  }

  #progress(): void {
    this.#told = this.#position;
    const silentTo = Math.max(this.#floor, this.#position - LEAD);
    const finalisedTo = this.#heard[0]?.start ?? silentTo;
    this.#tell({ $case: "progress", value: { processedTo: this.#position, finalisedTo } });
  }

  #tell(message: TranscribeResult): void {
    if (!this.#isOver) this.#onMessage(message);
  }
}
