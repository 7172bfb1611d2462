/** Tells when nobody has said a word for a while, as Deepgram's UtteranceEnd does. */
export class UtteranceEnds {
  readonly #silence: number | undefined;
  /** End of the last word that is final, seconds; undefined once it was told. */
  #lastWordEnd: number | undefined;

  /** @param silenceMs undefined: nothing is told */
  constructor(silenceMs: number | undefined) {
    this.#silence = silenceMs === undefined ? undefined : silenceMs / 1_000;
  }

  /** A final with these words came. */
  noteFinal(words: readonly { end: number }[]): void {
    this.#lastWordEnd = words.at(-1)?.end ?? this.#lastWordEnd;
  }

  /** A hypothesis with these words came: somebody goes on before the silence is over. */
  noteWords(words: readonly { start: number }[]): void {
    const start = words[0]?.start;
    if (start === undefined || this.#lastWordEnd === undefined) return;
    if (start - this.#lastWordEnd < (this.#silence ?? 0)) this.#lastWordEnd = undefined;
  }

  /**
   * The end of the last word, once, when the silence since is long enough.
   *
   * @param seconds length of the audio so far
   */
  take(seconds: number): number | undefined {
    const end = this.#lastWordEnd;
    if (this.#silence === undefined || end === undefined) return undefined;
    if (seconds - end < this.#silence) return undefined;
    this.#lastWordEnd = undefined;
    return end;
  }
}
