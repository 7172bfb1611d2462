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

/** The words of an utterance so far. */
export interface Hypothesis {
  words: RecognisedWord[];
  /**
   * Number of leading words on which the engine's last readings agree, so that they will hardly
   * change; absent when the engine does not tell.
   */
  agreed?: number;
}

/**
 * Port: an engine that reads the utterances of one session, or of one channel of it, one after the
 * other.
 *
 * Audio is 16 kHz mono, signed 16-bit. Methods return at once: the caller is a thread that
 * alternates between sessions. An engine that needs time works elsewhere, and tells by `onNews`
 * when there is something new. The words of an utterance depend only on its audio, on its place in
 * the session and on how `mayEnd` and `truncate` were called, never on when.
 */
export interface Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  /**
   * Words of less confidence were probably misrecognised and are marked as unclear. Without a floor
   * no word is marked.
   */
  readonly confidenceFloor?: number;
  /** Raises the chance of these words and phrases; those that it cannot take are left out. */
  useVocabulary(phrases: readonly string[]): void;
  /** The language of the next utterances, a primary subtag that the engine knows. */
  useLanguage?(language: string): void;
  /** Begins an utterance whose first fed sample is at `position`. */
  start(position: number): void;
  /** Takes the next audio of the utterance. */
  feed(pcm: Int16Array): void;
  /**
   * Speech has paused: if it does not go on, what was fed is the whole utterance. An engine may begin
   * its final reading.
   */
  mayEnd?(): void;
  /**
   * Only the first `samples` belong to the utterance; the others come again in the next one. Absent
   * when the engine cannot take back what it was given.
   */
  truncate?(samples: number): void;
  /** The words of the utterance so far. Cheap; the newest words may still change. */
  hypothesis(): Hypothesis;
  /**
   * Asks for the words of the utterance, whose audio is complete. True when `finish` may be called,
   * which throws if the engine has failed; false while the answer is still to come. Repeatable.
   * Absent when `finish` never has to wait.
   */
  settle?(): boolean;
  /** The listener is called when `settle` or `hypothesis` would have something new to say. */
  onNews?(listener: (() => void) | undefined): void;
  /** Ends the utterance and returns its words with their confidence. */
  finish(): RecognisedWord[];
  /** Ends the utterance without a result. */
  discard(): void;
  /** Frees what the engine holds for the session. */
  close(): void;
}
