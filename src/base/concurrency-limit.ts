import { AppError } from "./errors.ts";
import type { QueueFigures, QueueOwner } from "./queue-metrics.ts";

interface ConcurrencyLimitOptions<S extends string> {
  /** What the slots are for, in the plural, as it stands in messages: "uploads". */
  what: string;
  /** How many there are in all. */
  capacity: number;
  /** How many one holder of each kind may have at once. */
  shares: Readonly<Record<S, number>>;
}

/** What one holder has of a kind of share. */
interface Holding {
  readonly holders: Map<string, Holding>;
  readonly key: string;
  taken: number;
}

const RETRY_SECONDS = 2;

/**
 * A bounded number of slots, or of bytes, of which each holder has at most its share, so that
 * nobody can take them all: an address, a caller, a workspace. Nothing waits: what has no slot is
 * refused.
 */
export class ConcurrencyLimit<S extends string> implements QueueOwner {
  readonly #options: ConcurrencyLimitOptions<S>;
  readonly #holders = new Map<S, Map<string, Holding>>();
  #taken = 0;
  #refused = 0;

  constructor(options: ConcurrencyLimitOptions<S>) {
    this.#options = options;
  }

  get queues(): readonly QueueFigures[] {
    const { what, capacity: limit } = this.#options;
    const queue = what.replaceAll(" ", "_");
    return [{ queue, length: this.#taken, limit, refused: this.#refused }];
  }

  /** How much is taken in all. */
  get taken(): number {
    return this.#taken;
  }

  /** How often something was refused because all was taken, since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Takes `amount` until the slot is released. Throws `overloaded` when less is free. */
  acquire(amount = 1): Slot<S> {
    this.add(amount);
    return new Slot(this, amount);
  }

  /** Only for `Place`. */
  add(amount: number): void {
    const { what, capacity } = this.#options;
    if (this.#taken + amount > capacity) {
      this.#refused += 1;
      const message = `Too many ${what} at once. Please try again.`;
      throw new AppError("overloaded", message, { retryAfter: RETRY_SECONDS });
    }
    this.#taken += amount;
  }

  /** Only for `Place`: gives back to all holders. */
  free(amount: number, holdings: readonly Holding[]): void {
    this.#taken -= amount;
    for (const holding of holdings) {
      holding.taken -= amount;
      if (holding.taken <= 0) holding.holders.delete(holding.key);
    }
  }

  /** Only for `Place`: counts `amount` for a holder. Throws `rate_limited` beyond its share. */
  hold(share: S, key: string, amount: number): Holding {
    const holders = this.#holdersOf(share);
    const holding = holders.get(key) ?? { holders, key, taken: 0 };
    this.check(share, holding, amount);
    if (holding.taken === 0) holders.set(key, holding);
    holding.taken += amount;
    return holding;
  }

  /** Only for `Place`. */
  check(share: S, { taken }: Holding, amount: number): void {
    const { what, shares } = this.#options;
    if (taken + amount <= shares[share]) return;
    const message = `You have too many ${what} at once. Please try again when one has ended.`;
    throw new AppError("rate_limited", message, { retryAfter: RETRY_SECONDS });
  }

  #holdersOf(share: S): Map<string, Holding> {
    const known = this.#holders.get(share);
    if (known !== undefined) return known;
    const holders = new Map<string, Holding>();
    this.#holders.set(share, holders);
    return holders;
  }
}

/** What was taken, to be released once; releasing it again does nothing. */
export class Slot<S extends string> {
  readonly #limit: ConcurrencyLimit<S>;
  readonly #amount: number;
  #holdings: Holding[] | undefined = [];

  constructor(limit: ConcurrencyLimit<S>, amount: number) {
    this.#limit = limit;
    this.#amount = amount;
  }

  /**
   * Counts the slot for one more holder; without a key for none. Throws `rate_limited` when that
   * holder has its share; the slot is then still to be released.
   */
  claim(share: S, key: string | undefined): void {
    if (key === undefined || this.#holdings === undefined) return;
    this.#holdings.push(this.#limit.hold(share, key, this.#amount));
  }

  release(): void {
    const holdings = this.#holdings;
    if (holdings === undefined) return;
    this.#holdings = undefined;
    this.#limit.free(this.#amount, holdings);
  }
}
