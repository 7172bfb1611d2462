import { backOff } from "../back-off.ts";

const BACKOFF_WAITS = { firstMs: 1_000, mostMs: 10 * 60_000 };
const MOST_DOUBLINGS = 20;
const MOST_BACKED_OFF = 1_000;

/**
 * Items of a work list that failed: each is left alone for a second, and twice as long after every
 * further failure, up to ten minutes. Of more than a thousand the one that has rested longest is
 * forgotten, and so tried again.
 */
export class BackedOffItems {
  readonly #clock: { monotonic(): number };
  readonly #items = new Map<string, { failures: number; until: number }>();

  constructor(clock: { monotonic(): number }) {
    this.#clock = clock;
  }

  /** How many items failed last time. */
  get size(): number {
    return this.#items.size;
  }

  failed(name: string): void {
    const failures = Math.min(MOST_DOUBLINGS, (this.#items.get(name)?.failures ?? 0) + 1);
    const until = this.#clock.monotonic() + backOff(failures, BACKOFF_WAITS);
    this.#items.delete(name);
    this.#items.set(name, { failures, until });
    const [oldest] = this.#items.keys();
    if (this.#items.size > MOST_BACKED_OFF && oldest !== undefined) this.#items.delete(oldest);
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
