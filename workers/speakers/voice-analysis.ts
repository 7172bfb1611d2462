/** A vector or a table of numbers that a network makes of sound. */
export interface PendingNumbers {
  /** Undefined until it is there. Throws AppError `unavailable` when the networks failed. */
  readonly numbers: Float32Array | undefined;
  /** Resolves when it is there, or has failed. */
  readonly settled: Promise<void>;
  /** Nobody waits for it any more. */
  drop(): void;
}

/** Port: the networks by which voices are told apart; their answers depend on the sound alone. */
export interface VoiceAnalysis {
  /** Name and version of the networks. */
  readonly name: string;
  /** Numbers of a vector. */
  readonly vectorSize: number;
  /**
   * Asks for the vector, of unit length, of speech of one voice: 16 kHz mono, `LEAST_EMBEDDED` samples at least. Vectors
   * of one voice are near by cosine.
   */
  embed(pcm: Int16Array): PendingNumbers;
  /**
   * Asks who speaks when in up to `LONGEST_SEGMENTED` samples of sound, 16 kHz mono, 0.1 s at least: for each frame the
   * logarithms of the probabilities of `VOICE_CLASSES`, frame after frame.
   */
  segment(pcm: Int16Array): PendingNumbers;
  /** The listener is called when an answer has come. */
  onNews(listener: (() => void) | undefined): void;
}

/** What may be true of a frame: nobody, one of three voices, or two of them at once. */
export const VOICE_CLASSES: readonly (readonly number[])[] = [
  [],
  [0],
  [1],
  [2],
  [0, 1],
  [0, 2],
  [1, 2],
];

/** Samples between two frames, and samples that each looks at. */
export const VOICE_FRAME = 270;
export const VOICE_FRAME_FIELD = 991;
