import type { Clock } from "../../base/clock.ts";

interface Entry<V> {
  value: Promise<V>;
  until: number;
}

/**
 * Remembers answers for a short time, at most `capacity` of them; callers that
 * ask at the same time share one look-up. What failed is not remembered.
 */
export class ShortCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #capacity: number;

  constructor(clock: Clock, milliseconds: number, capacity: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#capacity = capacity;
  }

  /** What is remembered; undefined when that is nothing. */
  peek(key: string): Promise<V> | undefined {
    const known = this.#entries.get(key);
    return known !== undefined && known.until > this.#clock.monotonic() ? known.value : undefined;
  }

  get(key: string, load: () => Promise<V>): Promise<V> {
    const now = this.#clock.monotonic();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known.value;
    const entry = { value: load(), until: now + this.#milliseconds };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#capacity) this.#dropOldest();
    entry.value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return entry.value;
  }

  clear(): void {
    this.#entries.clear();
  }

  #dropOldest(): void {
    for (const key of this.#entries.keys()) {
      this.#entries.delete(key);
      return;
    }
  }
}
