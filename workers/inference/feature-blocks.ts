/** Numbers of a frame of the frontend. */
export const FEATURES = 576;
/** Frames of a block, and samples from the first of one to the first of the next. */
export const BLOCK_FRAMES = 64;
export const BLOCK_STRIDE = BLOCK_FRAMES * 192;
/** An utterance has at most 20 s. What is longer is not stored from here on. */
const MOST_BLOCKS = Math.ceil((20 * 16_000) / BLOCK_STRIDE);
const BLOCK_FEATURES = BLOCK_FRAMES * FEATURES;

/** What the frontend makes of a block of sound. */
export interface FeatureBlock {
  /** [frames, 576], row by row. */
  features: Float32Array;
  /** Of the values between its convolutions, over which the encoder normalises. */
  sum: number;
  squares: number;
}

/**
 * What the frontend made of an utterance so far, in memory that threads share: its next reading,
 * on whichever thread, goes on behind that. Each block is made by itself from the same samples
 * whenever that is, so it does not matter which reading stored it, nor if two do at once.
 */
export class FeatureBlocks {
  readonly #stored: Int32Array;
  readonly #sums: Float64Array;
  readonly #features: Float32Array;

  /** Memory for one utterance: 4 MB at most, of which the system gives what is written. */
  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(MOST_BLOCKS * (24 + BLOCK_FEATURES * 4));
  }

  constructor(memory: SharedArrayBuffer) {
    this.#sums = new Float64Array(memory, 0, 2 * MOST_BLOCKS);
    this.#stored = new Int32Array(memory, 16 * MOST_BLOCKS, MOST_BLOCKS);
    this.#features = new Float32Array(memory, 24 * MOST_BLOCKS, MOST_BLOCKS * BLOCK_FEATURES);
  }

  at(block: number): FeatureBlock | undefined {
    if (block >= MOST_BLOCKS || Atomics.load(this.#stored, block) === 0) return undefined;
    const [sum = 0, squares = 0] = this.#sums.subarray(2 * block);
    const from = block * BLOCK_FEATURES;
    return { features: this.#features.subarray(from, from + BLOCK_FEATURES), sum, squares };
  }

  store(block: number, { features, sum, squares }: FeatureBlock): void {
    if (block >= MOST_BLOCKS) return;
    this.#features.set(features, block * BLOCK_FEATURES);
    this.#sums.set([sum, squares], 2 * block);
    Atomics.store(this.#stored, block, 1);
  }
}
