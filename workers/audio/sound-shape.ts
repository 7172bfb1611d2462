import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";

/** Samples of one step of the envelope, 5 ms. */
const STEP = SESSION_RATE / 200;
/** Steps that a sound fills if it lasts, 50 ms: strokes and clicks die away before, vowels do not. */
const LASTING = 10;
/** Edge of the low band, Hz, of two filters of first order in a row. */
const LOW_EDGE_HZ = 400;
const LOW_GAIN = 1 - Math.exp((-2 * Math.PI * LOW_EDGE_HZ) / SESSION_RATE);
/** Takes away a constant offset of the samples. */
const OFFSET_GAIN = 0.01;

/**
 * How the energy of a span lies in time and frequency. One loud click in a span of speech does not
 * change much: energy counts up to a multiple of the mean.
 */
export class SoundShape {
  readonly #energies: number[] = [];
  #whole = 0;
  #low = 0;
  #filters: { offset: number; first: number; second: number } | undefined;

  /** Takes the next samples; those beyond the last whole 5 ms do not count. */
  push(pcm: Int16Array): void {
    let { offset, first, second } = this.#filters ?? { offset: pcm[0] ?? 0, first: 0, second: 0 };
    for (let from = 0; from + STEP <= pcm.length; from += STEP) {
      let energy = 0;
      for (let at = from; at < from + STEP; at++) {
        const sample = pcm[at] ?? 0;
        offset += OFFSET_GAIN * (sample - offset);
        const value = sample - offset;
        first += LOW_GAIN * (value - first);
        second += LOW_GAIN * (first - second);
        energy += value * value;
        this.#low += second * second;
      }
      this.#energies.push(energy);
      this.#whole += energy;
    }
    this.#filters = { offset, first, second };
  }

  /** Share of the energy below some 400 Hz. */
  get lowShare(): number {
    return this.#whole === 0 ? 0 : this.#low / this.#whole;
  }

  /**
   * Share of the energy that lies in sound of at least 50 ms: what is left when the envelope is
   * opened (each dip widened, then each rest widened back). Of less than 50 ms in all nothing is told: 1.
   *
   * @param most no 5 ms count for more than this multiple of the mean
   */
  lastingShare(most = Number.POSITIVE_INFINITY): number {
    if (this.#energies.length < LASTING) return 1;
    const limit = (most * this.#whole) / this.#energies.length;
    const counted = this.#energies.map((energy) => Math.min(energy, limit));
    const total = counted.reduce((sum, energy) => sum + energy, 0);
    const floors = counted.map((_, from) =>
      from + LASTING > counted.length ? 0 : Math.min(...counted.slice(from, from + LASTING)),
    );
    const lasting = floors.reduce(
      (sum, _, at) => sum + Math.max(...floors.slice(Math.max(0, at - LASTING + 1), at + 1)),
      0,
    );
    return total === 0 ? 0 : lasting / total;
  }
}
