import { toInt16 } from "./pcm-samples.ts";
import { resamplingPeriod, SESSION_RATE } from "./sample-rate.ts";

/**
 * Zero crossings of the sinc on each side; with the window's beta this gives about 80 dB of
 * rejection.
 */
const CROSSINGS = 16;
const KAISER_BETA = 8;
/** Share of the narrower band that passes. */
const PASS_BAND = 0.95;
/** Most filters that are cached; the oldest is dropped first. */
const MAX_KEPT = 8;

const kept = new Map<number, SincInterpolator>();

/**
 * Computes any part of a recording at 16 kHz from its samples at another rate, by band-limited
 * interpolation (J. O. Smith, "Digital Audio Resampling", the windowed sinc). It has no state: a
 * sample is the same whichever part was requested, unlike with a streaming resampler.
 */
export class SincInterpolator {
  /** Number of input frames on each side of a position on which its value depends. */
  readonly reach: number;
  readonly #input: number;
  readonly #output: number;
  /** One row of `2 * reach` taps per phase. */
  readonly #taps: Float32Array;

  private constructor(rate: number) {
    const { input, output } = resamplingPeriod(rate);
    this.#input = input;
    this.#output = output;
    const band = PASS_BAND * Math.min(1, SESSION_RATE / rate);
    this.reach = Math.ceil(CROSSINGS / band);
    this.#taps = makeTaps(output, this.reach, band);
  }

  /** Returns the interpolator of a rate that `isSupportedRate` accepts. */
  static of(rate: number): SincInterpolator {
    const known = kept.get(rate);
    if (known !== undefined) return known;
    const oldest = kept.size < MAX_KEPT ? undefined : kept.keys().next().value;
    if (oldest !== undefined) kept.delete(oldest);
    const made = new SincInterpolator(rate);
    kept.set(rate, made);
    return made;
  }

  /** The input frames that `read(from, count, …)` needs: [from, to). */
  span(from: number, count: number): { from: number; to: number } {
    const first = this.#frameOf(from);
    const last = this.#frameOf(from + Math.max(0, count - 1));
    return { from: first - this.reach + 1, to: last + this.reach + 1 };
  }

  /**
   * Computes `count` samples at 16 kHz from position `from` on; `frames` are those of `span(from,
   * count)`.
   */
  read(from: number, count: number, frames: Int16Array): Int16Array {
    const width = 2 * this.reach;
    const taps = this.#taps;
    const origin = this.#frameOf(from);
    const samples = new Int16Array(count);
    for (let index = 0; index < count; index++) {
      const position = from + index;
      const row = ((position * this.#input) % this.#output) * width;
      const first = this.#frameOf(position) - origin;
      let sum = 0;
      for (let tap = 0; tap < width; tap++) {
        sum += (taps[row + tap] ?? 0) * (frames[first + tap] ?? 0);
      }
      samples[index] = toInt16(sum);
    }
    return samples;
  }

  #frameOf(position: number): number {
    return Math.floor((position * this.#input) / this.#output);
  }
}

function makeTaps(phases: number, reach: number, band: number): Float32Array {
  const width = 2 * reach;
  const taps = new Float32Array(phases * width);
  for (let phase = 0; phase < phases; phase++) {
    const row = Array.from({ length: width }, (_, tap) =>
      kernel(tap - reach + 1 - phase / phases, reach, band),
    );
    // Normalised so that every phase passes a constant unchanged.
    const gain = row.reduce((sum, value) => sum + value, 0);
    for (const [tap, value] of row.entries()) taps[phase * width + tap] = value / gain;
  }
  return taps;
}

function kernel(distance: number, reach: number, band: number): number {
  const place = distance / reach;
  if (Math.abs(place) >= 1) return 0;
  const angle = Math.PI * band * distance;
  const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
  return sinc * bessel(KAISER_BETA * Math.sqrt(1 - place * place));
}

/** The modified Bessel function of the first kind, order 0, by its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let n = 1; term > sum * 1e-12; n++) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}
