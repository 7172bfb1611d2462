/** Half of the work that was done for a share is forgotten after this time, milliseconds. */
const HALF_LIFE_MS = 4_000;

/** How much was done of late for each share, so that the one with the least is next. */
export class WorkOfShares {
  readonly #halfLifeMs: number;
  readonly #work = new Map<string | undefined, { ms: number; at: number }>();

  /**
   * @param halfLifeMs half of the work is forgotten after it: a share that was idle is preferred to
   * busy ones for about as long at most
   */
  constructor(halfLifeMs = HALF_LIFE_MS) {
    this.#halfLifeMs = halfLifeMs;
  }

  /** Milliseconds of work, of which the older counts less. */
  of(share: string | undefined, now: number): number {
    const { ms, at } = this.#work.get(share) ?? { ms: 0, at: now };
    return ms * 0.5 ** ((now - at) / this.#halfLifeMs);
  }

  add(share: string | undefined, ms: number, now: number): void {
    const before = this.of(share, now);
    for (const old of this.#work.keys()) if (this.of(old, now) < 1) this.#work.delete(old);
    this.#work.set(share, { ms: before + ms, at: now });
  }
}
