import { channelOf, toChannels } from "./pcm-samples.ts";
import { SESSION_RATE } from "./sample-rate.ts";
import { SincInterpolator } from "./sinc-interpolator.ts";

/**
 * Converts interleaved samples that come in parts to 16 kHz, each the same as `SincInterpolator`
 * computes it from the whole. More than two channels are mixed to one.
 */
export class SessionRateStream {
  readonly channels: number;
  readonly #own: number;
  readonly #interpolator: SincInterpolator | undefined;
  /** Frames from `#heldFrom` on, for each channel. */
  #held: Int16Array[];
  #heldFrom: number;
  /** Frames that came so far. */
  #frames = 0;
  /** Samples at 16 kHz that were returned so far, for each channel. */
  #written = 0;
  readonly #rate: number;

  constructor(rate: number, channels: number) {
    this.#own = channels;
    this.channels = channels <= 2 ? channels : 1;
    this.#rate = rate;
    this.#interpolator = rate === SESSION_RATE ? undefined : SincInterpolator.of(rate);
    // Before the beginning there is silence.
    const reach = this.#interpolator?.reach ?? 0;
    this.#heldFrom = -reach;
    this.#held = Array.from({ length: this.channels }, () => new Int16Array(reach));
  }

  /** The samples that can be computed by now, interleaved. */
  push(interleaved: Int16Array): Int16Array {
    const own = toChannels(interleaved, this.#own, this.channels);
    if (this.#interpolator === undefined) return own;
    this.#frames += own.length / this.channels;
    this.#held = this.#held.map((held, channel) =>
      joined(held, channelOf(own, channel, this.channels)),
    );
    return this.#take(this.#interpolator, this.#frames);
  }

  /** The rest: behind the end there is silence. */
  end(): Int16Array {
    if (this.#interpolator === undefined) return new Int16Array(0);
    const silence = new Int16Array(2 * this.#interpolator.reach);
    this.#held = this.#held.map((held) => joined(held, silence));
    const known = this.#frames + silence.length;
    const length = Math.floor((this.#frames * SESSION_RATE) / this.#rate);
    return this.#take(this.#interpolator, known, length);
  }

  /** `known`: frames that are there; at most up to `length` samples in all. */
  #take(interpolator: SincInterpolator, known: number, length = Number.POSITIVE_INFINITY) {
    let count = Math.floor(((known - this.#heldFrom) * SESSION_RATE) / this.#rate);
    count = Math.min(count, length - this.#written);
    while (count > 0 && interpolator.span(this.#written, count).to > known) count -= 1;
    if (count <= 0) return new Int16Array(0);
    const { from, to } = interpolator.span(this.#written, count);
    const result = new Int16Array(count * this.channels);
    for (const [channel, held] of this.#held.entries()) {
      const frames = held.subarray(from - this.#heldFrom, to - this.#heldFrom);
      const samples = interpolator.read(this.#written, count, frames);
      for (const [at, sample] of samples.entries()) result[at * this.channels + channel] = sample;
    }
    this.#written += count;
    const next = interpolator.span(this.#written, 1).from;
    this.#held = this.#held.map((held) => held.slice(next - this.#heldFrom));
    this.#heldFrom = next;
    return result;
  }
}

function joined(one: Int16Array, other: Int16Array): Int16Array {
  const both = new Int16Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
