import { channelOf } from "../../src/base/audio/pcm-samples.ts";
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
 * An unbroken run of chunks at one rate: takes frames, returns samples at session positions. The
 * samples of several channels are interleaved, in and out.
 *
 * A run that is entered in the middle (after a checkpoint) starts at the next whole resampling
 * period, so that its samples equal those of a run that was read from its first frame.
 */
export class ResamplingRun {
  readonly rate: number;
  readonly #base: number;
  readonly #channels: number;
  /** One for each channel; none at the session's rate. */
  readonly #resamplers: readonly Resampler[];
  #frames: number;
  #skip: number;
  #output = new Int16Array(0);
  #outputStart: number;
  #limit = Number.POSITIVE_INFINITY;

  constructor(phase: RunPhase, channels = 1) {
    this.#channels = channels;
    this.rate = phase.rate;
    this.#base = phase.base;
    this.#frames = phase.frames;
    const period = resamplingPeriod(phase.rate).input;
    this.#skip = (period - (phase.frames % period)) % period;
    this.#outputStart =
      phase.base + Math.round(((phase.frames + this.#skip) * SESSION_RATE) / phase.rate);
    this.#resamplers =
      phase.rate === SESSION_RATE
        ? []
        : Array.from({ length: channels }, () => new Resampler(phase.rate));
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
    return this.#outputStart + this.#output.length / this.#channels;
  }

  /** Number of samples that the resampler still holds back. */
  heldSamples(): number {
    return Math.ceil(((this.#resamplers[0]?.waiting ?? 0) * SESSION_RATE) / this.rate);
  }

  push(frames: Int16Array): void {
    const count = frames.length / this.#channels;
    this.#frames += count;
    const skipped = Math.min(this.#skip, count);
    this.#skip -= skipped;
    const kept = frames.subarray(skipped * this.#channels);
    const isSessionRate = this.#resamplers.length === 0;
    this.#append(isSessionRate ? kept : this.#resampled((each, n) => each.push(this.#of(kept, n))));
  }

  /** Sets the limit: samples at or beyond `end` are not returned until it is moved. */
  limit(end: number): void {
    this.#limit = end;
  }

  /** Returns samples from `position` on, at most `count`, and drops those before `position`. */
  take(position: number, count: number): Int16Array {
    const from = Math.max(0, position - this.#outputStart);
    if (this.#outputStart > position) return this.#silence(position, count);
    const held = this.end() - this.#outputStart;
    const to = Math.max(from, Math.min(from + count, held, this.#limit - this.#outputStart));
    const taken = this.#output.slice(from * this.#channels, to * this.#channels);
    const used = Math.min(to, held);
    this.#output = this.#output.subarray(used * this.#channels);
    this.#outputStart += used;
    return taken;
  }

  /** Flushes the resampler; true when there are samples to take. */
  finish(): boolean {
    const end = this.inputEnd();
    const before = this.#output.length;
    if (this.#resamplers.length > 0) this.#append(this.#resampled((each) => each.flush()));
    this.#limit = Math.min(this.#limit, end);
    return Math.min(this.end(), this.#limit) > this.#outputStart && this.#output.length > before;
  }

  close(): void {
    for (const resampler of this.#resamplers) resampler.close();
  }

  // A run that was entered in the middle without its previous chunk lacks the first milliseconds.
  #silence(position: number, count: number): Int16Array {
    if (this.#output.length === 0) return new Int16Array(0);
    return new Int16Array(Math.min(count, this.#outputStart - position) * this.#channels);
  }

  #of(frames: Int16Array, channel: number): Int16Array {
    return this.#channels === 1 ? frames : channelOf(frames, channel, this.#channels);
  }

  /** All channels' samples; `resample` gives those of one channel, as many of each. */
  #resampled(resample: (each: Resampler, channel: number) => Int16Array): Int16Array {
    const parts = this.#resamplers.map(resample);
    const [first = new Int16Array(0)] = parts;
    if (parts.length === 1) return first;
    const joined = new Int16Array(first.length * parts.length);
    for (const [channel, part] of parts.entries()) {
      for (const [frame, sample] of part.entries()) {
        joined[frame * parts.length + channel] = sample;
      }
    }
    return joined;
  }

  #append(samples: Int16Array): void {
    if (samples.length === 0) return;
    const joined = new Int16Array(this.#output.length + samples.length);
    joined.set(this.#output);
    joined.set(samples, this.#output.length);
    this.#output = joined;
  }
}
