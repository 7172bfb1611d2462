/** One word as heard. Positions are samples of the session's timeline at 16 kHz. */
export interface RecognisedWord {
  text: string;
  start: number;
  end: number;
  /** The engine's estimate that it was said, 0..1; 0 in hypotheses, where it is not yet known. */
  confidence: number;
}

/**
 * Port: a streaming recogniser for one session at a time.
 *
 * Audio is 16 kHz mono, signed 16 bit. Everything is synchronous: the owner is a
 * worker thread that takes turns between sessions. The words of an utterance
 * depend only on `restore`d state, on the audio fed since `start` and on the
 * sizes in which it was fed, which is why the caller feeds fixed blocks.
 */
export interface Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  /**
   * Words of less confidence are likely misheard, and are marked as unclear. An engine that
   * announces none has no word marked.
   */
  readonly confidenceFloor?: number;
  /** False until the engine has adapted to a first utterance: then `calibrate` helps. */
  isAdapted(): boolean;
  /** Estimates the channel from audio that will be read. Only between utterances. */
  calibrate(pcm: Int16Array): void;
  /** Begins an utterance whose first fed sample is at `position`. */
  start(position: number): void;
  /** Takes the next audio of the utterance. */
  feed(pcm: Int16Array): void;
  /** What the utterance says so far. Cheap; the newest words may still change. */
  hypothesis(): RecognisedWord[];
  /** Ends the utterance and gives its words with their confidence. */
  finish(): RecognisedWord[];
  /** Ends the utterance without reading a result; what was adapted on it stays. */
  discard(): void;
  /** What carries over between utterances, opaque. Only between utterances. */
  state(): Uint8Array;
  /** Puts a saved state back; without one, the engine's initial state. Only between utterances. */
  restore(state?: Uint8Array): void;
  /** Frees the engine's memory. */
  close(): void;
}
