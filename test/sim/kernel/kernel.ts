import type { SeededRandom } from "../../support/seeded-random.ts";

export interface Planned {
  cancel(): void;
}

interface Entry {
  at: number;
  order: number;
  work: (() => void) | undefined;
}

/**
 * One queue of everything that can happen: timers, messages, answers. What is
 * earliest happens, and whatever follows from it at once has happened before
 * time goes on.
 */
export class Kernel {
  readonly random: SeededRandom;
  /** Milliseconds since the simulation began. */
  now = 0;
  /** How much has happened. */
  steps = 0;
  /** Does one more thing that comes without any time; false when there is none. */
  follow: () => Promise<boolean> = async () => false;
  #heap: Entry[] = [];
  #order = 0;
  #fault: Error | undefined;

  constructor(random: SeededRandom) {
    this.random = random;
  }

  /** `work` happens `ms` from now. */
  plan(ms: number, work: () => void): Planned {
    const entry: Entry = { at: this.now + Math.max(0, ms), order: this.#order, work };
    this.#order += 1;
    this.#push(entry);
    return {
      cancel: () => {
        entry.work = undefined;
      },
    };
  }

  /** Ends the run: something happened that may never happen. The first one counts. */
  fail(error: Error): void {
    this.#fault ??= error;
  }

  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Lets happen what is to, until that time, a fault, or until `isDone` says so. */
  async run(until: number, isDone: () => boolean = () => false): Promise<void> {
    while (this.#fault === undefined && !isDone()) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) break;
      this.#pop();
      if (next.work === undefined) continue;
      this.now = Math.max(this.now, next.at);
      this.steps += 1;
      try {
        next.work();
      } catch (error) {
        this.fail(error as Error);
      }
      do await settled();
      while (await this.follow());
    }
    if (this.#fault === undefined && !isDone()) this.now = Math.max(this.now, until);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Entry)) child += 1;
      const below = heap[child] as Entry;
      if (!isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Everything that follows without any time has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
