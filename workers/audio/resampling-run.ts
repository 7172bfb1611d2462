import {
  resamplingPeriod,
  SESSION_RATE,
  toSessionSamples,
} from "../../src/base/audio/sample-rate.ts";
import { Resampler } from "./resampler.ts";

/** State of an unbroken run of chunks of one rate at the start of one of its chunks. */
export interface RunPhase {
  /** Session position of that chunk. */
  start: number;
  /** Session position where the run began. */
  base: number;
  /** Input frames of the run before that chunk. */
  frames: number;
  rate: number;
}

/**
 * An unbroken run of chunks at one rate: takes frames, returns samples at session positions.
 *
 * A run that is entered in the middle (after a checkpoint) starts at the next whole resampling
 * period, so that its samples equal those of a run that was read from its first frame.
 */
export class ResamplingRun {
  readonly rate: number;
  readonly #base: number;
  readonly #resampler: Resampler | undefined;
  #frames: number;
  #skip: number;
  #output = new Int16Array(0);
  #outputStart: number;
  #limit = Number.POSITIVE_INFINITY;

  constructor(phase: RunPhase) {
    this.rate = phase.rate;
    this.#base = phase.base;
    this.#frames = phase.frames;
    const period = resamplingPeriod(phase.rate).input;
    this.#skip = (period - (phase.frames % period)) % period;
    this.#outputStart =
      phase.base + Math.round(((phase.frames + this.#skip) * SESSION_RATE) / phase.rate);
    this.#resampler = phase.rate === SESSION_RATE ? undefined : new Resampler(phase.rate);
  }

  phaseAt(start: number): RunPhase {
    return { start, base: this.#base, frames: this.#frames, rate: this.rate };
  }

  /** Session position up to which frames were added. */
  inputEnd(): number {
    return this.#base + toSessionSamples(this.#frames, this.rate);
  }

  /** Session position up to which samples were produced. */
  end(): number {
    return this.#outputStart + this.#output.length;
  }

  /** Number of samples that the resampler still holds back. */
  heldSamples(): number {
    return Math.ceil(((this.#resampler?.waiting ?? 0) * SESSION_RATE) / this.rate);
  }

  push(frames: Int16Array): void {
    this.#frames += frames.length;
    const skipped = Math.min(this.#skip, frames.length);
    this.#skip -= skipped;
    const kept = frames.subarray(skipped);
    this.#append(this.#resampler?.push(kept) ?? kept);
  }

  /** Sets the limit: samples at or beyond `end` are not returned until it is moved. */
  limit(end: number): void {
    this.#limit = end;
  }

  /** Returns samples from `position` on, at most `count`, and drops those before `position`. */
  take(position: number, count: number): Int16Array {
    const from = Math.max(0, position - this.#outputStart);
    if (this.#outputStart > position) return this.#silence(position, count);
    const to = Math.min(from + count, this.#output.length, this.#limit - this.#outputStart);
    const taken = this.#output.slice(from, Math.max(from, to));
    const used = Math.min(from + taken.length, this.#output.length);
    this.#output = this.#output.subarray(used);
    this.#outputStart += used;
    return taken;
  }

  /** Flushes the resampler; true when there are samples to take. */
  finish(): boolean {
    const end = this.inputEnd();
    const before = this.#output.length;
    this.#append(this.#resampler?.flush() ?? new Int16Array(0));
    this.#limit = Math.min(this.#limit, end);
    return Math.min(this.end(), this.#limit) > this.#outputStart && this.#output.length > before;
  }

  close(): void {
    this.#resampler?.close();
  }

  // A run that was entered in the middle without its previous chunk lacks the first milliseconds.
  #silence(position: number, count: number): Int16Array {
    if (this.#output.length === 0) return new Int16Array(0);
    return new Int16Array(Math.min(count, this.#outputStart - position));
  }

  #append(samples: Int16Array): void {
    if (samples.length === 0) return;
    const joined = new Int16Array(this.#output.length + samples.length);
    joined.set(this.#output);
    joined.set(samples, this.#output.length);
    this.#output = joined;
  }
}
