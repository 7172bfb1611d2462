import { newId } from "../../../src/base/ids.ts";
import { delayBy, type Runtime, type Timer } from "../../../src/base/runtime.ts";
import { SeededRandom } from "../seeded-random.ts";
import type { SimRecord } from "./sim-record.ts";

interface Entry {
  at: number;
  work: () => void;
}

/** Time that goes on only when it is told to, for a record and those who use it. */
export class VirtualTime {
  #now: number;
  #entries: Entry[] = [];
  readonly runtime: Runtime;

  constructor(now: number, seed = 1) {
    this.#now = now;
    const random = new SeededRandom(seed);
    const after = (ms: number, work: () => void): Timer => this.#after(ms, work);
    this.runtime = {
      now: () => this.#now,
      monotonic: () => this.#now,
      after,
      every: (ms, work) => this.#every(ms, work),
      soon: (work) => after(0, work),
      delay: (ms, signal) => delayBy({ after }, ms, signal),
      random: () => random.next(),
      newId: () => newId(Math.floor(this.#now)),
    };
  }

  /** Lets time go on, one thing after the other, until it is so or `ms` are over. */
  async run(record: SimRecord, ms: number, isDone: () => boolean = () => false): Promise<void> {
    const until = this.#now + ms;
    await quiet(record);
    while (!isDone()) {
      this.#entries.sort((a, b) => a.at - b.at);
      const [next] = this.#entries;
      if (next === undefined || next.at > until) break;
      this.#entries.shift();
      this.#now = Math.max(this.#now, next.at);
      next.work();
      await quiet(record);
    }
    if (!isDone()) this.#now = until;
  }

  #after(ms: number, work: () => void): Timer {
    let entry: Entry = { at: this.#now + Math.max(0, ms), work };
    this.#entries.push(entry);
    return {
      cancel: () => {
        this.#entries = this.#entries.filter((other) => other !== entry);
      },
      refresh: () => {
        if (!this.#entries.includes(entry)) return;
        this.#entries = this.#entries.filter((other) => other !== entry);
        entry = { at: this.#now + ms, work };
        this.#entries.push(entry);
      },
    };
  }

  #every(ms: number, work: () => void): Timer {
    let timer = this.#after(ms, again);
    const every = (): Timer => this.#after(ms, again);
    function again(): void {
      timer = every();
      work();
    }
    return { cancel: () => timer.cancel(), refresh: () => timer.refresh() };
  }
}

/** Nothing more happens without any time. */
async function quiet(record: SimRecord): Promise<void> {
  do {
    for (let turns = 0; turns < 3; turns += 1) await new Promise((wake) => setImmediate(wake));
  } while (await record.step());
}
