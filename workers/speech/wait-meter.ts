/** Sums up how long something that works elsewhere was waited for. */
export class WaitMeter {
  #ms = 0;
  #since: number | undefined;

  /** The waits that ended, milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** Told at each poll whether it is still waited for. */
  sample(waits: boolean): void {
    const now = performance.now();
    if (waits) this.#since ??= now;
    else if (this.#since !== undefined) {
      this.#ms += now - this.#since;
      this.#since = undefined;
    }
  }
}
