import { CEPSTRA } from "./mel-cepstrum.ts";
import type { StateReader, StateWriter } from "./state-codec.ts";

export const PAIRS = (CEPSTRA * (CEPSTRA + 1)) / 2;

/** Sums over frames of speech, from which mean and covariance follow. Immutable. */
export class VoiceStatistics {
  static readonly none = new VoiceStatistics(0, new Float64Array(CEPSTRA), new Float64Array(PAIRS));
  readonly count: number;
  readonly sums: Float64Array;
  /** Sums of the products of each pair of coefficients, lower triangle row after row. */
  readonly products: Float64Array;

  constructor(count: number, sums: Float64Array, products: Float64Array) {
    this.count = count;
    this.sums = sums;
    this.products = products;
  }

  /** Statistics of the cepstra in rows `from` to before `to`. */
  static of(rows: Float32Array, from = 0, to = rows.length / CEPSTRA): VoiceStatistics {
    const sums = new Float64Array(CEPSTRA);
    const products = new Float64Array(PAIRS);
    for (let row = from; row < to; row++) {
      for (let i = 0, at = 0; i < CEPSTRA; i++) {
        const a = rows[row * CEPSTRA + i] ?? 0;
        sums[i] = (sums[i] ?? 0) + a;
        for (let j = 0; j <= i; j++, at++) {
          products[at] = (products[at] ?? 0) + a * (rows[row * CEPSTRA + j] ?? 0);
        }
      }
    }
    return new VoiceStatistics(Math.max(0, to - from), sums, products);
  }

  plus(other: VoiceStatistics): VoiceStatistics {
    return this.#combined(other, 1);
  }

  /** Statistics without `other`, which must be a part of these. */
  minus(other: VoiceStatistics): VoiceStatistics {
    return this.#combined(other, -1);
  }

  /** Statistics with the same mean and covariance, counted as at most `most` frames. */
  capped(most: number): VoiceStatistics {
    if (this.count <= most) return this;
    const share = most / this.count;
    return new VoiceStatistics(
      most,
      this.sums.map((sum) => sum * share),
      this.products.map((product) => product * share),
    );
  }

  write(to: StateWriter): void {
    to.uint32(this.count);
    for (const sum of this.sums) to.float32(sum);
    for (const product of this.products) to.float32(product);
  }

  static read(from: StateReader): VoiceStatistics {
    const count = from.uint32();
    const sums = Float64Array.from({ length: CEPSTRA }, () => from.float32());
    const products = Float64Array.from({ length: PAIRS }, () => from.float32());
    return new VoiceStatistics(count, sums, products);
  }

  /**
   * Values rounded as in a checkpoint, so that a resumed reading continues with the same numbers.
   */
  rounded(): VoiceStatistics {
    return new VoiceStatistics(
      this.count,
      this.sums.map(Math.fround),
      this.products.map(Math.fround),
    );
  }

  #combined(other: VoiceStatistics, sign: 1 | -1): VoiceStatistics {
    return new VoiceStatistics(
      this.count + sign * other.count,
      this.sums.map((sum, i) => sum + sign * (other.sums[i] ?? 0)),
      this.products.map((product, i) => product + sign * (other.products[i] ?? 0)),
    );
  }
}
