/** The worker counts in frames of 32 ms: samples. */
const FRAME = 512;

/**
 * Publishes where utterances end. The end of an utterance that a client ended, and so the answer to
 * its Finalize, is published behind the final itself, and also when there was no speech.
 */
export class FinalizeAnswers {
  readonly #publish: (end: number) => void;
  #due: number | undefined;

  /** @param publish takes a position in samples */
  constructor(publish: (end: number) => void) {
    this.#publish = publish;
  }

  /** @param asked where a client ended the utterance in hand, if it did */
  ended(end: number, asked: number | undefined): void {
    if (!reaches(end, asked)) this.#publish(end);
  }

  /** Everything up to the position is read; its final is on record, or `recorded` will be called. */
  reached(position: number, isRecorded: boolean): void {
    this.#due = position;
    if (isRecorded) this.recorded();
  }

  recorded(): void {
    if (this.#due !== undefined) this.#publish(this.#due);
    this.#due = undefined;
  }
}

/** True when a reading that came to `end` has read all of `asked`. */
export function reaches(end: number, asked: number | undefined): boolean {
  return asked !== undefined && end >= asked - FRAME;
}
