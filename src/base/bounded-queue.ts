/** A first-in first-out queue that refuses items beyond `capacity`. */
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

  get refused(): number {
    return this.#refused;
  }

  /** Adds an item; false when the queue is full, and the item was not added. */
  offer(item: T): boolean {
    if (this.size >= this.capacity) {
      this.#refused += 1;
      return false;
    }
    this.#items.push(item);
    return true;
  }

  /** Removes and returns the oldest item; undefined when empty. */
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

  /** Removes and returns all items, oldest first. */
  drain(): T[] {
    const items = this.#items.slice(this.#head) as T[];
    this.#items = [];
    this.#head = 0;
    return items;
  }
}
