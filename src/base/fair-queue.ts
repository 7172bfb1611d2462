interface FairQueueOptions {
  /** How many may wait in all. */
  capacity: number;
  /** How many of one holder may wait. */
  share: number;
}

/**
 * Items that wait, taken from their holders in turn: who has many waiting delays none of the others.
 * When it is full, a holder with few waiting pushes out the newest item of the one with the most.
 */
export class FairQueue<T> {
  readonly #options: FairQueueOptions;
  /** In the order of the turns; no list is empty. */
  readonly #waiting = new Map<string, T[]>();
  #size = 0;
  #refused = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  get capacity(): number {
    return this.#options.capacity;
  }

  /** How many items were refused or pushed out since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Adds an item. Returns the one that has no room now: another, this one, or none. */
  offer(holder: string, item: T): T | undefined {
    const { capacity, share } = this.#options;
    const own = this.#waiting.get(holder);
    const count = own?.length ?? 0;
    const isFull = this.#size >= capacity;
    const pushedOut = isFull && count < share ? this.#dropOfLongest(count) : undefined;
    if (count >= share || (isFull && pushedOut === undefined)) {
      this.#refused += 1;
      return item;
    }
    if (own === undefined) this.#waiting.set(holder, [item]);
    else own.push(item);
    this.#size += 1;
    return pushedOut;
  }

  /** Removes and returns the item whose turn it is, of holders that `may`; undefined when none waits. */
  take(may: (holder: string) => boolean = () => true): T | undefined {
    for (const [holder, items] of this.#waiting) {
      if (!may(holder)) continue;
      const item = items.shift();
      this.#waiting.delete(holder);
      // Behind all others, as it had its turn.
      if (items.length > 0) this.#waiting.set(holder, items);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** Takes an item out that waits for nothing any more; it may be gone already. */
  drop(holder: string, item: T): void {
    const items = this.#waiting.get(holder);
    const at = items?.indexOf(item) ?? -1;
    if (items === undefined || at < 0) return;
    items.splice(at, 1);
    this.#size -= 1;
    if (items.length === 0) this.#waiting.delete(holder);
  }

  /** Drops the newest item of the holder with the most, if they are more than `count` and one. */
  #dropOfLongest(count: number): T | undefined {
    let longest: T[] = [];
    for (const items of this.#waiting.values()) if (items.length > longest.length) longest = items;
    if (longest.length <= count + 1) return undefined;
    this.#size -= 1;
    this.#refused += 1;
    return longest.pop();
  }
}
