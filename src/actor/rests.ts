import { RECOVERED, restAfter } from "./relapses.ts";

/** What failed for a reason that passes, and how long each is left alone: ever longer. */
export class Rests {
  readonly #rests = new Map<string, { times: number; until: number }>();

  /** It failed, once more in a row; `now` in monotonic milliseconds. */
  failed(id: string, now: number): void {
    const times = (this.#rests.get(id)?.times ?? 0) + 1;
    this.#rests.set(id, { times, until: now + restAfter(times) });
  }

  has(id: string, now: number): boolean {
    return now < (this.#rests.get(id)?.until ?? now);
  }

  succeeded(id: string): void {
    this.#rests.delete(id);
  }

  /** Forgets those that were not tried again for long. */
  prune(now: number): void {
    for (const [id, { until }] of this.#rests) {
      if (now - until >= RECOVERED) this.#rests.delete(id);
    }
  }
}
