import { FRAME_SIZE } from "./voice-frames.ts";

/** A mixture of Gaussians with diagonal covariance over frames of 38 numbers. */
export interface Gaussians {
  count: number;
  /** Natural logarithms of the weights. */
  logWeights: Float32Array;
  /** Row after row. */
  means: Float32Array;
  variances: Float32Array;
}

/** How much of some speech falls to each Gaussian. */
interface Statistics {
  /** Frames of each Gaussian. */
  shares: Float64Array;
  /** Sums of their frames, row after row. */
  sums: Float64Array;
  /** Sums of the frames' logarithms of likelihood. */
  logLikelihood: number;
}

/** Frames taken in one step: about 2 ms of work. */
const STEP = 32;

/** Evaluates one mixture for many frames. */
export class GaussianScorer {
  readonly #gaussians: Gaussians;
  readonly #precisions: Float64Array;
  readonly #constants: Float64Array;
  readonly #logs: Float64Array;

  constructor(gaussians: Gaussians) {
    const { count, logWeights, variances } = gaussians;
    this.#gaussians = gaussians;
    this.#precisions = Float64Array.from(variances, (variance) => 1 / variance);
    this.#logs = new Float64Array(count);
    this.#constants = Float64Array.from(logWeights, (weight, g) => {
      const row = variances.subarray(g * FRAME_SIZE, (g + 1) * FRAME_SIZE);
      return weight - 0.5 * row.reduce((sum, each) => sum + Math.log(2 * Math.PI * each), 0);
    });
  }

  /** Adds the frames to statistics; yields between steps. `onFrame` gets each posterior. */
  *gather(
    rows: Float32Array,
    onFrame?: (row: Float32Array, posteriors: Float64Array) => void,
  ): Generator<undefined, Statistics> {
    const { count } = this.#gaussians;
    const sums = new Float64Array(count * FRAME_SIZE);
    const statistics = { shares: new Float64Array(count), sums, logLikelihood: 0 };
    for (let n = 0; n < rows.length / FRAME_SIZE; n++) {
      const row = rows.subarray(n * FRAME_SIZE, (n + 1) * FRAME_SIZE);
      statistics.logLikelihood += this.#posteriors(row);
      this.#add(row, statistics);
      onFrame?.(row, this.#logs);
      if (n % STEP === STEP - 1) yield;
    }
    return statistics;
  }

  /** Leaves the posteriors in `#logs`; returns the frame's logarithm of likelihood. */
  #posteriors(row: Float32Array): number {
    const { count, means } = this.#gaussians;
    let highest = Number.NEGATIVE_INFINITY;
    for (let g = 0; g < count; g++) {
      let distance = 0;
      for (let c = 0, at = g * FRAME_SIZE; c < FRAME_SIZE; c++, at++) {
        const off = (row[c] ?? 0) - (means[at] ?? 0);
        distance += off * off * (this.#precisions[at] ?? 0);
      }
      const log = (this.#constants[g] ?? 0) - 0.5 * distance;
      this.#logs[g] = log;
      if (log > highest) highest = log;
    }
    let sum = 0;
    for (let g = 0; g < count; g++) {
      const share = Math.exp((this.#logs[g] ?? 0) - highest);
      this.#logs[g] = share;
      sum += share;
    }
    for (let g = 0; g < count; g++) this.#logs[g] = (this.#logs[g] ?? 0) / sum;
    return highest + Math.log(sum);
  }

  #add(row: Float32Array, { shares, sums }: Statistics): void {
    for (let g = 0; g < shares.length; g++) {
      const share = this.#logs[g] ?? 0;
      if (share < 1e-4) continue;
      shares[g] = (shares[g] ?? 0) + share;
      for (let c = 0, at = g * FRAME_SIZE; c < FRAME_SIZE; c++, at++) {
        sums[at] = (sums[at] ?? 0) + share * (row[c] ?? 0);
      }
    }
  }
}
