/** Longest stretch of speech that ends without a pause, seconds, and some more. */
const LONGEST_SPEECH = 30;

/**
 * How far the reader may be thought to have gone on since it told where it is, seconds: it tells that
 * about once a second, and what it has not read yet may hold words.
 */
const MOST_UNTOLD = 0.5;

/** Where the audio is, seconds: how far it was read at least, and how much had come by then. */
interface ReadPoint {
  readTo: number;
  received: number;
}

/**
 * Tells when nobody has said a word for a while, as Deepgram's UtteranceEnd does. The silence is that
 * of the audio that was read: what has come and was not read yet may hold words.
 */
export class UtteranceEnds {
  readonly #silence: number | undefined;
  /** End of the last word that is final, seconds; undefined once it was told. */
  #lastWordEnd: number | undefined;
  #read: ReadPoint = { readTo: 0, received: 0 };
  /** Beginning of speech that has not ended yet. */
  #speechFrom: number | undefined;

  /** @param silenceMs undefined: nothing is told */
  constructor(silenceMs: number | undefined) {
    this.#silence = silenceMs === undefined ? undefined : silenceMs / 1_000;
  }

  /** A final with these words came. */
  noteFinal(words: readonly { end: number }[]): void {
    this.#speechFrom = undefined;
    this.#lastWordEnd = words.at(-1)?.end ?? this.#lastWordEnd;
  }

  /** A hypothesis with these words came: somebody goes on before the silence is over. */
  noteWords(words: readonly { start: number }[]): void {
    const start = words[0]?.start;
    if (start === undefined || this.#lastWordEnd === undefined) return;
    if (start - this.#lastWordEnd < (this.#silence ?? 0)) this.#lastWordEnd = undefined;
  }

  /** Speech began, of which the words are not known yet. */
  noteSpeech(start: number): void {
    this.#speechFrom = start;
  }

  /** Speech ended; it may have been a noise, which has no words. */
  noteSpeechEnd(): void {
    this.#speechFrom = undefined;
  }

  /** The audio was read this far at least when so much of it had come. */
  noteRead(point: ReadPoint): void {
    if (point.readTo >= this.#read.readTo) this.#read = point;
  }

  /**
   * The end of the last word, once, when the silence since is long enough.
   *
   * @param received length of the audio so far, seconds; reading goes on with what comes, but not far
   * without a word of it
   */
  take(received: number): number | undefined {
    const end = this.#lastWordEnd;
    if (this.#silence === undefined || end === undefined) return undefined;
    const since = Math.max(0, received - this.#read.received);
    const readTo = this.#read.readTo + Math.min(MOST_UNTOLD, since);
    if (readTo - end < this.#silence || this.#isSpeech(end, readTo)) return undefined;
    this.#lastWordEnd = undefined;
    return end;
  }

  #isSpeech(end: number, readTo: number): boolean {
    const from = this.#speechFrom;
    if (from === undefined || from < end) return false;
    return readTo - from < LONGEST_SPEECH;
  }
}
