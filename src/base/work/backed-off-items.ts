import { type BackOffWaits, backOff } from "../back-off.ts";

interface BackedOffItemsOptions {
  /** From one second to ten minutes unless given. */
  waits?: BackOffWaits;
  /** How many are remembered; a thousand unless given. */
  most?: number;
  /** Earlier failures of one that was not tried for so long do not count, milliseconds; they do unless given. */
  forgetMs?: number;
}

/**
 * Items of a work list that failed: each is left alone for a while, longer after every further failure. Of too
 * many the one that failed longest ago is forgotten, and so tried again.
 */
export class BackedOffItems {
  readonly #clock: { monotonic(): number };
  readonly #options: Required<BackedOffItemsOptions>;
  readonly #items = new Map<string, { failures: number; until: number }>();

  constructor(clock: { monotonic(): number }, options: BackedOffItemsOptions = {}) {
    this.#clock = clock;
    const waits = { firstMs: 1_000, mostMs: 10 * 60_000 };
    this.#options = { waits, most: 1_000, forgetMs: Number.POSITIVE_INFINITY, ...options };
  }

  /** How many items failed last time. */
  get size(): number {
    return this.#items.size;
  }

  failed(name: string): void {
    const { waits, most, forgetMs } = this.#options;
    const now = this.#clock.monotonic();
    const before = this.#items.get(name);
    const isKnown = before !== undefined && now - before.until < forgetMs;
    const failures = isKnown ? before.failures + 1 : 1;
    this.#items.delete(name);
    this.#items.set(name, { failures, until: now + backOff(failures, waits) });
    const [oldest] = this.#items.keys();
    if (this.#items.size > most && oldest !== undefined) this.#items.delete(oldest);
  }

  worked(name: string): void {
    this.#items.delete(name);
  }

  hasFailed(name: string): boolean {
    return this.#items.has(name);
  }

  /** True while the item is not to be tried. */
  isBackingOff(name: string): boolean {
    const item = this.#items.get(name);
    return item !== undefined && this.#clock.monotonic() < item.until;
  }

  /** The items that are not to be tried now. */
  names(): string[] {
    return [...this.#items.keys()].filter((name) => this.isBackingOff(name));
  }
}
