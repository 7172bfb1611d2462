import { BoundedQueue } from "../base/bounded-queue.ts";

/** A queue with two bounded lanes; control messages (from timers and effects) come first. */
export class Mailbox<T> {
  readonly #control: BoundedQueue<T>;
  readonly #requests: BoundedQueue<T>;

  constructor(capacity: number) {
    this.#control = new BoundedQueue(capacity);
    this.#requests = new BoundedQueue(capacity);
  }

  get size(): number {
    return this.#control.size + this.#requests.size;
  }

  /** The number of messages in each lane. */
  get lengths(): { control: number; requests: number } {
    return { control: this.#control.size, requests: this.#requests.size };
  }

  /** False when the lane is full. */
  offer(message: T, control: boolean): boolean {
    return (control ? this.#control : this.#requests).offer(message);
  }

  /** Removes and returns up to `limit` messages: control first, each lane in order. */
  take(limit: number): T[] {
    const batch: T[] = [];
    while (batch.length < limit) {
      const message = this.#control.take() ?? this.#requests.take();
      if (message === undefined) break;
      batch.push(message);
    }
    return batch;
  }

  drain(): T[] {
    return [...this.#control.drain(), ...this.#requests.drain()];
  }
}
