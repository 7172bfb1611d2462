import { delayBy, type Runtime, type Timer } from "../../../src/base/runtime.ts";

/** Lets everything that waits for nothing outside go on. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Planned {
  at: number;
  every: number | undefined;
  work: () => void;
}

/** Time that passes only when it is told to. */
export class VirtualRuntime implements Runtime {
  #now = 1_700_000_000_000;
  #timers: Planned[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): Timer {
    return this.#plan(ms, undefined, work);
  }

  every(ms: number, work: () => void): Timer {
    return this.#plan(ms, ms, work);
  }

  soon(work: () => void): Pick<Timer, "cancel"> {
    const immediate = setImmediate(work);
    return { cancel: () => clearImmediate(immediate) };
  }

  delay(ms: number, signal?: AbortSignal): Promise<void> {
    return delayBy(this, ms, signal);
  }

  random(): number {
    return 0.5;
  }

  newId(): string {
    throw new Error("nothing here needs a name");
  }

  #plan(ms: number, every: number | undefined, work: () => void): Timer {
    const planned: Planned = { at: this.#now + ms, every, work };
    this.#timers.push(planned);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((each) => each !== planned);
      },
      refresh: () => {
        planned.at = this.#now + ms;
      },
    };
  }

  /** Each timer in its turn; `after` once behind each of them. */
  async pass(ms: number, after: () => Promise<void>): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#timers
        .filter(({ at }) => at <= end)
        .reduce<Planned | undefined>(
          (a, b) => (a !== undefined && a.at <= b.at ? a : b),
          undefined,
        );
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      if (next.every === undefined) this.#timers = this.#timers.filter((each) => each !== next);
      else next.at = this.#now + next.every;
      next.work();
      await after();
    }
    this.#now = end;
    await after();
  }
}
