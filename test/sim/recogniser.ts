import type {
  AudioChunk,
  Checkpoint,
  Segment,
  SpeakerUpdate,
  Utterance,
  Word,
} from "../../src/wire/gen/voice/v1/worker.ts";
import { CheckpointPace } from "../../workers/speech/checkpoint-pace.ts";
import type { Run } from "./speech.ts";

/** Silence after which an utterance ends, in samples. */
const PAUSE = 6_400;
/** As much of the silence before its first word belongs to an utterance, in samples. */
const ONSET = 2_400;

interface Spoken extends Word {
  speaker: number;
}

/**
 * What a recogniser makes of the sound: utterances that end at pauses, at gaps
 * and when they get long; how long depends on where they began. Read again
 * from a checkpoint it gives the same utterances, from elsewhere others. It gives
 * checkpoints as rarely as a real one.
 */
export class Recogniser {
  readonly #flavour: string;
  #position: number;
  #words: Spoken[] = [];
  #quiet = 0;
  /** Where the utterance before ended: nothing before it belongs to the next one. */
  #floor: number;
  readonly #pace: CheckpointPace;
  readonly #speakers: number[];
  readonly #out: Utterance[] = [];

  constructor(flavour: string, checkpoint: Checkpoint | undefined) {
    this.#flavour = flavour;
    this.#position = checkpoint?.position ?? 0;
    this.#floor = this.#position;
    this.#pace = new CheckpointPace(this.#position);
    this.#speakers = [...(checkpoint?.speakers ?? [])];
  }

  get position(): number {
    return this.#position;
  }

  /** Everything before it is final. */
  get finalisedTo(): number {
    return Math.max(this.#floor, (this.#words[0]?.start ?? this.#position) - ONSET);
  }

  /** The utterances that ended since it was asked last. */
  take(): Utterance[] {
    return this.#out.splice(0);
  }

  /** What lies before its position it has heard already. */
  hear({ start, length }: Pick<AudioChunk, "start" | "length">, runs: readonly Run[]): void {
    for (const run of runs) {
      const from = Math.max(this.#position, start + run.start);
      const to = Math.min(start + length, start + run.end);
      if (from >= to) continue;
      if (run.text === undefined) this.#hearSilence(from, to);
      else this.#hearWord(from, to, { text: run.text, speaker: run.speaker });
    }
    this.#position = Math.max(this.#position, start + length);
  }

  /** The utterance in hand so far. */
  get inHand(): readonly Word[] {
    return this.#words.map(({ text, start, end, confidence }) => ({
      text,
      start,
      end,
      confidence,
    }));
  }

  /** Nothing is known of what lies up to `end`. */
  gap(end: number): void {
    if (end <= this.#position) return;
    this.missing(end);
    this.#tellCheckpoint();
  }

  /** What lies up to `end` cannot be read. */
  missing(end: number): void {
    this.end();
    this.#position = Math.max(this.#position, end);
    this.#floor = this.#position;
  }

  end(isCut = false): void {
    const first = this.#words[0];
    const last = this.#words.at(-1);
    if (first === undefined || last === undefined) return;
    const segments = this.#segments();
    const [opening] = segments;
    if (opening !== undefined) opening.start = this.finalisedTo;
    this.#out.push({
      start: this.finalisedTo,
      end: this.#position,
      segments,
      checkpoint: isCut || this.#pace.isDue(this.#position) ? this.#checkpoint() : undefined,
      speakers: this.#secondThoughts(segments),
      time: undefined,
    });
    this.#words = [];
    this.#quiet = 0;
    this.#floor = this.#position;
  }

  #tellCheckpoint(): void {
    this.#floor = this.#position;
    const [start, end, checkpoint] = [this.#position, this.#position, this.#checkpoint()];
    this.#out.push({ start, end, segments: [], checkpoint, speakers: undefined, time: undefined });
  }

  #checkpoint(): Checkpoint {
    this.#pace.given(this.#position);
    return {
      position: this.#position,
      recogniser: Buffer.from([1]),
      speakers: Buffer.from(this.#speakers),
      clusters: { ids: [...this.#speakers.keys()] },
    };
  }

  #hearSilence(from: number, to: number): void {
    const pauseEnd = from + PAUSE - this.#quiet;
    this.#quiet += to - from;
    if (pauseEnd <= to) {
      this.#position = pauseEnd;
      this.end();
    }
    this.#position = to;
  }

  #hearWord(from: number, to: number, { text, speaker }: Pick<Spoken, "text" | "speaker">): void {
    const last = this.#words.at(-1);
    this.#quiet = 0;
    if (last?.text === text && last.end === from) last.end = to;
    else {
      this.#position = from;
      if (this.#isLong()) this.end();
      this.#words.push({ text, start: from, end: to, confidence: 0.9, speaker });
    }
    this.#position = to;
  }

  #isLong(): boolean {
    const first = this.#words[0];
    if (first === undefined) return false;
    return this.#words.length >= 3 + (hash(`${this.#flavour}:${first.start}`) % 7);
  }

  #segments(): Segment[] {
    const segments: Segment[] = [];
    let speaker = -1;
    for (const spoken of this.#words) {
      const { text, start, end, confidence } = spoken;
      const word = { text, start, end, confidence };
      const last = segments.at(-1);
      if (last !== undefined && spoken.speaker === speaker) {
        last.words.push(word);
        last.end = end;
      } else {
        speaker = spoken.speaker;
        const cluster = this.#cluster(speaker);
        segments.push({ start, end, words: [word], confidence, cluster, overlaps: [] });
      }
    }
    return segments;
  }

  #cluster(speaker: number): number {
    if (!this.#speakers.includes(speaker)) this.#speakers.push(speaker);
    return this.#speakers.indexOf(speaker);
  }

  /** Now and then a segment is found to be another voice's. */
  #secondThoughts(segments: readonly Segment[]): SpeakerUpdate | undefined {
    const [first] = segments;
    const said = first?.words[0]?.start;
    if (first === undefined || hash(`again:${said}`) % 5 !== 0) return undefined;
    const cluster = hash(`voice:${said}`) % Math.max(1, this.#speakers.length);
    return { segments: [{ start: first.start, cluster }], merges: [], finalPass: false };
  }
}

/** FNV-1a. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let n = 0; n < text.length; n += 1) {
    value = Math.imul(value ^ text.charCodeAt(n), 0x01000193);
  }
  return value >>> 0;
}
