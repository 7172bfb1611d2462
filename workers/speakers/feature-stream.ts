import { CEPSTRA, FRAME_LENGTH, MelCepstrum } from "./mel-cepstrum.ts";
import type { StateReader, StateWriter } from "./state-codec.ts";

const BELOW_PEAK_DB = 20;
/**
 * Decay per frame, 0.05 dB per 10 ms, so that a loud start loses its effect within about ten
 * seconds.
 */
const DECAY_DB = 0.2;
const RISE_DB = 0.08;
const ABOVE_NOISE_DB = 6;
const SILENCE_DB = 25;

/**
 * Distinguishes speech from pauses by level: speech is near a decaying peak and above the noise.
 */
class SpeechFilter {
  #peak = SILENCE_DB + BELOW_PEAK_DB;
  #noise = SILENCE_DB;

  /** True when a frame of this level is speech. Frames come 40 ms apart. */
  accepts(db: number): boolean {
    this.#peak = Math.max(db, this.#peak - DECAY_DB, SILENCE_DB + BELOW_PEAK_DB);
    this.#noise = Math.max(SILENCE_DB, Math.min(db, this.#noise + RISE_DB));
    return db > this.#peak - BELOW_PEAK_DB && db > this.#noise + ABOVE_NOISE_DB;
  }

  write(to: StateWriter): void {
    to.float64(this.#peak);
    to.float64(this.#noise);
  }

  read(from: StateReader): void {
    this.#peak = from.float64();
    this.#noise = from.float64();
  }
}

/** Samples between two analysed frames (40 ms); closer frames add little information. */
const SPACING = 640;
/** Analysed frames per second of speech. */
export const FRAMES_PER_SECOND = 25;

/** Most frames that are kept: two minutes, longer than any utterance. */
const MOST_FRAMES = 3000;

/** Frames of speech: their starts (samples) and their cepstra, row after row. */
export interface SpeechFrames {
  starts: number[];
  rows: Float32Array;
}

/**
 * Turns audio into frames of speech. Frames start at multiples of 640 samples of the session's
 * timeline, so that the result does not depend on how the audio was cut.
 */
export class FeatureStream {
  readonly #cepstrum = new MelCepstrum();
  readonly #filter = new SpeechFilter();
  readonly #row = new Float32Array(CEPSTRA);
  #position = 0;
  #tail: Int16Array = new Int16Array(0);
  #starts: number[] = [];
  readonly #rows = new Float32Array(MOST_FRAMES * CEPSTRA);

  /** Adds audio at `start`; parts before the newest position are known already and skipped. */
  push(start: number, pcm: Int16Array): void {
    if (start > this.#position) this.skip(start);
    const fresh = start < this.#position ? pcm.subarray(this.#position - start) : pcm;
    if (fresh.length === 0) return;
    const joined = new Int16Array(this.#tail.length + fresh.length);
    joined.set(this.#tail);
    joined.set(fresh, this.#tail.length);
    const origin = this.#position - this.#tail.length;
    this.#position += fresh.length;
    let next = Math.ceil(origin / SPACING) * SPACING;
    for (; next + FRAME_LENGTH <= this.#position; next += SPACING) {
      this.#analyse(joined, next - origin, next);
    }
    this.#tail = joined.slice(Math.max(0, Math.min(joined.length, next - origin)));
  }

  /** Records that the audio up to `position` is missing. */
  skip(position: number): void {
    if (position <= this.#position) return;
    this.#position = position;
    this.#tail = new Int16Array(0);
  }

  /** Cepstra and starts of the frames of speech that start within [start, end). */
  between(start: number, end: number): SpeechFrames {
    const from = this.#starts.findIndex((at) => at >= start);
    if (from < 0) return { starts: [], rows: new Float32Array(0) };
    let to = from;
    while (to < this.#starts.length && (this.#starts[to] ?? end) < end) to++;
    return {
      starts: this.#starts.slice(from, to),
      rows: this.#rows.slice(from * CEPSTRA, to * CEPSTRA),
    };
  }

  /** The newest frames of speech, at most `count`, none before `since`. */
  newest(count: number, since: number): SpeechFrames {
    const first = this.#starts[Math.max(0, this.#starts.length - count)] ?? since;
    return this.between(Math.max(since, first), this.#position);
  }

  /** Removes frames before `position`. */
  forget(position: number): void {
    const gone = this.#starts.findIndex((at) => at >= position);
    this.#drop(gone < 0 ? this.#starts.length : gone);
  }

  write(to: StateWriter): void {
    to.float64(this.#position);
    this.#filter.write(to);
    to.bytes(new Uint8Array(this.#tail.buffer, this.#tail.byteOffset, this.#tail.byteLength));
    to.uint32(this.#starts.length);
    for (const at of this.#starts) to.float64(at);
    for (let i = 0; i < this.#starts.length * CEPSTRA; i++) to.float32(this.#rows[i] ?? 0);
  }

  read(from: StateReader): void {
    this.#position = from.float64();
    this.#filter.read(from);
    const tail = from.bytes();
    this.#tail = new Int16Array(tail.buffer, tail.byteOffset, tail.length >> 1);
    this.#starts = Array.from({ length: from.uint32() }, () => from.float64());
    for (let i = 0; i < this.#starts.length * CEPSTRA; i++) this.#rows[i] = from.float32();
  }

  #analyse(samples: Int16Array, offset: number, start: number): void {
    const { speechDb } = this.#cepstrum.analyse(samples, offset, this.#row);
    if (!this.#filter.accepts(speechDb)) return;
    if (this.#starts.length === MOST_FRAMES) this.#drop(MOST_FRAMES / 4);
    this.#rows.set(this.#row, this.#starts.length * CEPSTRA);
    this.#starts.push(start);
  }

  #drop(count: number): void {
    if (count === 0) return;
    this.#rows.copyWithin(0, count * CEPSTRA, this.#starts.length * CEPSTRA);
    this.#starts = this.#starts.slice(count);
  }
}
