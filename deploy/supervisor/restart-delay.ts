const FIRST_MS = 200;
const LONGEST_MS = 10_000;
const HEALTHY_AFTER_MS = 60_000;

/** Doubles from 0.2 s to 10 s; starts anew when the part had been healthy for a minute. */
export class RestartDelay {
  #nextMs = FIRST_MS;
  #healthySince: number | undefined;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  healthy(): void {
    this.#healthySince = this.#now();
  }

  next(): number {
    const since = this.#healthySince;
    if (since !== undefined && this.#now() - since >= HEALTHY_AFTER_MS) this.#nextMs = FIRST_MS;
    this.#healthySince = undefined;
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(this.#nextMs * 2, LONGEST_MS);
    return delayMs;
  }
}
