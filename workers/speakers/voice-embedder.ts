/**
 * Turns a stretch of one voice's speech into a vector; vectors of one voice are near by cosine.
 *
 * Vectors of different embedders cannot be compared: whoever stores some keeps `name` beside them.
 */
export interface VoiceEmbedder {
  /** Name and version for `diarisation_model_version`; another for every other network. */
  readonly name: string;
  readonly dimension: number;
  /**
   * Vector of unit length for 16 kHz mono speech of at least 0.4 s, undefined where the network has
   * none for this sound (some answer NaN now and then). Synchronous and deterministic; earlier
   * calls do not matter. Throws RangeError for less speech.
   */
  embed(samples: Int16Array): Float32Array | undefined;
  /** Frees what it holds. It cannot be used afterwards. */
  close(): void;
}

/** The shortest speech that an embedder takes, samples at 16 kHz. */
export const LEAST_EMBEDDED_SAMPLES = 6_400;
