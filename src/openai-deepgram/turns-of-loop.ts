/**
 * Work of one caller in steps, in order: the first is done at once, and between the others everybody
 * else has a turn of the event loop.
 */
export class TurnsOfLoop {
  readonly #onError: (error: unknown) => void;
  #waiting: (() => unknown)[] = [];
  #isPlanned = false;

  /** @param onError called with what a step throws; the others go on */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Does the steps behind those that wait. */
  add(...steps: (() => unknown)[]): void {
    this.#waiting.push(...steps);
    if (!this.#isPlanned) this.#next();
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting = [];
  }

  #next(): void {
    this.#isPlanned = false;
    try {
      this.#waiting.shift()?.();
    } catch (error) {
      this.#onError(error);
    }
    if (this.#waiting.length === 0 || this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#next());
  }
}
