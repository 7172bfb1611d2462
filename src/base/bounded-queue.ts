/** A first-in first-out queue that refuses rather than grows past `capacity`. */
export class BoundedQueue<T> {
  readonly capacity: number;
  #items: (T | undefined)[] = [];
  #head = 0;
  #refused = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** How often it was full. */
  get refused(): number {
    return this.#refused;
  }

  /** False when full; the item was then not taken. */
  offer(item: T): boolean {
    if (this.size >= this.capacity) {
      this.#refused += 1;
      return false;
    }
    this.#items.push(item);
    return true;
  }

  /** The oldest item, removed; undefined when empty. */
  take(): T | undefined {
    if (this.#head >= this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** All items, oldest first, removed. */
  drain(): T[] {
    const items = this.#items.slice(this.#head) as T[];
    this.#items = [];
    this.#head = 0;
    return items;
  }
}
