/** The service judges what a file is by its first piece: a small one, so that nothing is sent in vain. */
const FIRST = 64 * 1024;
/** More in a request brings nothing: the service makes each durable. */
const MOST = 8 * 1024 * 1024;
/** How long a piece should take, milliseconds: so often it is known how much has come. */
const AIM_MS = 2_000;
const GROWTH = 4;

/** How many bytes of a file go in a request, by how long those before took. */
export class PieceSize {
  #next = FIRST;

  get next(): number {
    return this.#next;
  }

  /** The piece of this size has come, after so many milliseconds. */
  took(ms: number): void {
    const wanted = Math.round(this.#next * Math.min(GROWTH, AIM_MS / Math.max(1, ms)));
    this.#next = Math.min(MOST, Math.max(FIRST, wanted));
  }

  /** It did not come: the line may be slower by now. */
  failed(): void {
    this.#next = FIRST;
  }
}
