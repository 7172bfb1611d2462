/** How far a session was read, in samples of its timeline; it never goes back. */
export class ReadProgress {
  #processedTo = 0;
  #finalisedTo = 0;
  #notedTo = 0;

  /** A reading begins at this checkpoint. */
  startAt(position: number): void {
    this.#processedTo = position;
    this.#finalisedTo = position;
  }

  processed(to: number): void {
    this.#processedTo = Math.max(this.#processedTo, to);
  }

  finalised(to: number): void {
    this.#finalisedTo = Math.max(this.#finalisedTo, to);
  }

  get processedTo(): number {
    return this.#processedTo;
  }

  /** Everything before it is final. */
  get finalisedTo(): number {
    return this.#finalisedTo;
  }

  /** Calls `note` with how far it was read, when that has changed since the last time. */
  whenChanged(note: (samples: number) => void): void {
    if (this.#notedTo === this.#processedTo) return;
    this.#notedTo = this.#processedTo;
    note(this.#processedTo);
  }
}
