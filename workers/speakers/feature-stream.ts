import { CEPSTRA, FRAME_LENGTH, MelCepstrum } from "../voices/mel-cepstrum.ts";
import { PITCH_SAMPLES, pitchOf } from "../voices/pitch.ts";
import { FRAME_SIZE, writeSlopes } from "../voices/voice-frames.ts";
import { SpeechFilter } from "./speech-filter.ts";
import type { StateReader, StateWriter } from "./state-codec.ts";

/** Samples between two frames (10 ms). */
const SHIFT = 160;
/** Analysed frames per second of speech. */
export const FRAMES_PER_SECOND = 100;
/** The frames on each side that a frame's slope is taken over. */
const REACH = 2;
/** Pitch is looked for every 80 ms. */
const PITCH_SHIFT = 8 * SHIFT;
/** What must be there after a frame's start before the frame is finished. */
const AHEAD = Math.max(PITCH_SAMPLES, REACH * SHIFT + FRAME_LENGTH);
/** Most frames that are kept: two minutes, longer than any utterance. */
const MOST_FRAMES = 120 * FRAMES_PER_SECOND;
const FIRST_CAPACITY = 10 * FRAMES_PER_SECOND;

/** Frames of speech, in order. */
export interface SpeechFrames {
  /** Where each begins, samples of the session's timeline. */
  starts: number[];
  /** Cepstra and their slopes, 38 numbers a frame, row after row. */
  rows: Float32Array;
  /** Logarithm to the base 2 of the pitch in Hz; NaN where it was not looked for or not voiced. */
  pitches: Float32Array;
}

/**
 * Turns audio into frames of speech. Frames start at multiples of 160 samples of the session's
 * timeline, so that the result does not depend on how the audio was cut. The newest 60 ms are not
 * analysed yet, as pitch and slopes need what follows.
 */
export class FeatureStream {
  readonly #cepstrum = new MelCepstrum();
  readonly #filter = new SpeechFilter();
  #position = 0;
  /** The newest samples, from the frames that the next one's slope needs. */
  #tail: Int16Array = new Int16Array(0);
  /** The start of the next frame to be finished. */
  #next = 0;
  /** Cepstra and levels of frames from `#analysedFrom` on, of which the first are finished. */
  #analysed: { row: Float32Array; db: number }[] = [];
  #analysedFrom = 0;
  #starts: number[] = [];
  #rows = new Float32Array(FIRST_CAPACITY * FRAME_SIZE);
  #pitches = new Float32Array(FIRST_CAPACITY);

  /** Adds audio at `start`; parts before the newest position are known already and skipped. */
  push(start: number, pcm: Int16Array): void {
    if (start > this.#position) this.skip(start);
    const fresh = start < this.#position ? pcm.subarray(this.#position - start) : pcm;
    if (fresh.length === 0) return;
    const joined = new Int16Array(this.#tail.length + fresh.length);
    joined.set(this.#tail);
    joined.set(fresh, this.#tail.length);
    this.#position += fresh.length;
    this.#tail = joined;
    this.#analyse();
    while (this.#next + AHEAD <= this.#position) this.#finish();
    this.#shorten();
  }

  /** Records that the audio up to `position` is missing. */
  skip(position: number): void {
    if (position <= this.#position) return;
    while (this.#next + FRAME_LENGTH <= this.#position) this.#finish();
    this.#begin(position);
  }

  /** The frames of speech that start within [start, end). */
  between(start: number, end: number): SpeechFrames {
    const from = this.#starts.findIndex((at) => at >= start);
    if (from < 0) return { starts: [], rows: new Float32Array(0), pitches: new Float32Array(0) };
    let to = from;
    while (to < this.#starts.length && (this.#starts[to] ?? end) < end) to++;
    return {
      starts: this.#starts.slice(from, to),
      rows: this.#rows.slice(from * FRAME_SIZE, to * FRAME_SIZE),
      pitches: this.#pitches.slice(from, to),
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
    to.float64(this.#next);
    this.#filter.write(to);
    to.bytes(new Uint8Array(this.#tail.buffer, this.#tail.byteOffset, this.#tail.byteLength));
    to.uint32(this.#starts.length);
    for (const at of this.#starts) to.float64(at);
    for (let i = 0; i < this.#starts.length * FRAME_SIZE; i++) to.float32(this.#rows[i] ?? 0);
    for (let i = 0; i < this.#starts.length; i++) to.float32(this.#pitches[i] ?? Number.NaN);
  }

  /** Reads what `write` wrote. */
  read(from: StateReader): void {
    const position = from.float64();
    const next = from.float64();
    this.#filter.read(from);
    this.#takeTail(position, from.bytes());
    this.#next = next;
    this.#starts = Array.from({ length: from.uint32() }, () => from.float64());
    this.#reserve(this.#starts.length);
    for (let i = 0; i < this.#starts.length * FRAME_SIZE; i++) this.#rows[i] = from.float32();
    for (let i = 0; i < this.#starts.length; i++) this.#pitches[i] = from.float32();
  }

  /** Goes on at `position` with the levels that were found before it. */
  goOn({ position, peak, noise }: { position: number; peak: number; noise: number }): void {
    this.#filter.set(peak, noise);
    this.#begin(position);
  }

  #takeTail(position: number, bytes: Uint8Array): void {
    this.#position = position;
    this.#tail = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
    const origin = position - this.#tail.length;
    this.#analysedFrom = Math.ceil(origin / SHIFT) * SHIFT;
    this.#analysed = [];
    this.#analyse();
  }

  #begin(position: number): void {
    this.#position = position;
    this.#tail = new Int16Array(0);
    this.#analysed = [];
    this.#next = Math.ceil(position / SHIFT) * SHIFT;
    this.#analysedFrom = this.#next;
  }

  /** Cepstra of the frames whose samples are all there. */
  #analyse(): void {
    const origin = this.#position - this.#tail.length;
    for (;;) {
      const start = this.#analysedFrom + this.#analysed.length * SHIFT;
      if (start + FRAME_LENGTH > this.#position) return;
      const row = new Float32Array(CEPSTRA);
      const { speechDb } = this.#cepstrum.analyse(this.#tail, start - origin, row);
      this.#analysed.push({ row, db: speechDb });
    }
  }

  /** Finishes the next frame, and keeps it if it is speech. */
  #finish(): void {
    const start = this.#next;
    this.#next += SHIFT;
    const at = (start - this.#analysedFrom) / SHIFT;
    const level = this.#analysed[at];
    if (level === undefined || !this.#filter.accepts(level.db)) return;
    if (this.#starts.length === MOST_FRAMES) this.#drop(MOST_FRAMES / 4);
    const n = this.#starts.length;
    this.#reserve(n + 1);
    const rowAt = (offset: number) => {
      const place = Math.max(0, Math.min(this.#analysed.length - 1, at + offset));
      return this.#analysed[place]?.row ?? level.row;
    };
    writeSlopes(rowAt, this.#rows.subarray(n * FRAME_SIZE, (n + 1) * FRAME_SIZE));
    const origin = this.#position - this.#tail.length;
    const pitch = start % PITCH_SHIFT === 0 ? pitchOf(this.#tail, start - origin) : undefined;
    this.#pitches[n] = pitch === undefined ? Number.NaN : Math.log2(pitch);
    this.#starts.push(start);
  }

  /** Drops the samples that no later frame needs. */
  #shorten(): void {
    const needed = Math.max(this.#analysedFrom, this.#next - REACH * SHIFT);
    const origin = this.#position - this.#tail.length;
    if (needed <= origin) return;
    this.#tail = this.#tail.slice(Math.min(this.#tail.length, needed - origin));
    this.#analysed.splice(0, (needed - this.#analysedFrom) / SHIFT);
    this.#analysedFrom = needed;
  }

  #reserve(count: number): void {
    if (count <= this.#pitches.length) return;
    const capacity = Math.max(count, 2 * this.#pitches.length);
    const rows = new Float32Array(capacity * FRAME_SIZE);
    rows.set(this.#rows);
    this.#rows = rows;
    const pitches = new Float32Array(capacity);
    pitches.set(this.#pitches);
    this.#pitches = pitches;
  }

  #drop(count: number): void {
    if (count === 0) return;
    this.#rows.copyWithin(0, count * FRAME_SIZE, this.#starts.length * FRAME_SIZE);
    this.#pitches.copyWithin(0, count, this.#starts.length);
    this.#starts = this.#starts.slice(count);
  }
}
