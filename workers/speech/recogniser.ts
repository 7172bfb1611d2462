/** One recognised word. Positions are samples of the session's timeline at 16 kHz. */
export interface RecognisedWord {
  text: string;
  start: number;
  end: number;
  /**
   * The engine's estimate of the probability that it was said, 0..1; 0 in hypotheses, where it is
   * not known yet.
   */
  confidence: number;
}

/**
 * Port: a streaming recogniser for one session at a time.
 *
 * Audio is 16 kHz mono, signed 16-bit. All methods are synchronous: the caller is a worker thread
 * that alternates between sessions. The words of an utterance depend only on the `restore`d state,
 * on the audio fed since `start` and on the block sizes in which it was fed, so callers must feed
 * fixed blocks.
 */
export interface Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  /**
   * Words of less confidence were probably misrecognised and are marked as unclear. Without a floor
   * no word is marked.
   */
  readonly confidenceFloor?: number;
  /**
   * Raises the chance of these words and phrases, until `dropVocabulary`; those that the engine
   * cannot take are left out. Allowed only between utterances, with nothing else called meanwhile.
   */
  useVocabulary(phrases: readonly string[]): Promise<void>;
  /** Forgets the words and phrases. Allowed only between utterances. */
  dropVocabulary(): void;
  /** True when the engine itself tells words from noise; else what noise looks like is left out. */
  readonly knowsNoise?: boolean;
  /** The language of the next utterances, a primary subtag that the engine knows. */
  useLanguage?(language: string): void;
  /**
   * Of an engine that works elsewhere: asks for the words of the utterance, whose audio is complete.
   * True when `finish` may be called, which throws if the engine has failed; false when the answer
   * is still to come: then the listener of `onSettled` is called once it is there. Repeatable.
   */
  settle?(): boolean;
  onSettled?(listener: (() => void) | undefined): void;
  /** False until the engine has adapted to a first utterance: until then `calibrate` helps. */
  isAdapted(): boolean;
  /** Estimates the channel from audio that will be read. Allowed only between utterances. */
  calibrate(pcm: Int16Array): void;
  /** Begins an utterance whose first fed sample is at `position`. */
  start(position: number): void;
  /** Takes the next audio of the utterance. */
  feed(pcm: Int16Array): void;
  /** The words of the utterance so far. Cheap; the newest words may still change. */
  hypothesis(): RecognisedWord[];
  /** Ends the utterance and returns its words with their confidence. */
  finish(): RecognisedWord[];
  /** Ends the utterance without a result; the adaptation to it stays. */
  discard(): void;
  /** Opaque state that is kept between utterances. Allowed only between utterances. */
  state(): Uint8Array;
  /**
   * Restores a saved state; without one, the engine's initial state. Allowed only between
   * utterances.
   */
  restore(state?: Uint8Array): void;
  /** True when it must be closed instead of being used by another session; absent means never. */
  isWornOut?(): boolean;
  /** Frees the engine's memory. */
  close(): void;
}
