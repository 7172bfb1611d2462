/** Waits between failed attempts; they grow with every failure. */
interface BackOffWaits {
  /** Wait after the first failure, milliseconds. */
  firstMs: number;
  /** The longest wait, milliseconds; absent where the number of attempts is small. */
  mostMs?: number;
  /** Factor between consecutive waits; 2 when absent. */
  factor?: number;
  /** Largest random addition, milliseconds, so that many callers do not retry at the same time. */
  spreadMs?: number;
}

/**
 * The wait after this many consecutive failures, from 1, in milliseconds. A random part is added
 * only if `random` is given: a function from 0 to below 1, such as `Runtime.random`.
 */
export function backOff(failures: number, waits: BackOffWaits, random?: () => number): number {
  const { firstMs, mostMs = Number.POSITIVE_INFINITY, factor = 2, spreadMs = 0 } = waits;
  const wait = Math.min(mostMs, firstMs * factor ** (failures - 1));
  return random === undefined ? wait : wait + random() * spreadMs;
}

const REST_WAITS = { firstMs: 1_000, mostMs: 10 * 60_000 };
const MOST_DOUBLINGS = 20;
const MOST_RESTING = 1_000;

/**
 * Items of a work list that failed: each is left alone for a second, and twice as long after every
 * further failure, up to ten minutes. Of more than a thousand the one that has rested longest is
 * forgotten, and so tried again.
 */
export class RestingItems {
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
    const until = this.#clock.monotonic() + backOff(failures, REST_WAITS);
    this.#items.delete(name);
    this.#items.set(name, { failures, until });
    const [oldest] = this.#items.keys();
    if (this.#items.size > MOST_RESTING && oldest !== undefined) this.#items.delete(oldest);
  }

  worked(name: string): void {
    this.#items.delete(name);
  }

  hasFailed(name: string): boolean {
    return this.#items.has(name);
  }

  /** True while the item is not to be tried. */
  rests(name: string): boolean {
    const item = this.#items.get(name);
    return item !== undefined && this.#clock.monotonic() < item.until;
  }

  /** The items that are not to be tried now. */
  names(): string[] {
    return [...this.#items.keys()].filter((name) => this.rests(name));
  }
}
