import { backOff } from "../base/back-off.ts";

/** Between failures in a row. */
export const RESTART_WAITS = { firstMs: 500, mostMs: 60_000 };
/** After an activation has lasted this long, earlier failures no longer count, milliseconds. */
export const RECOVERED = 10 * 60_000;

interface Relapse {
  times: number;
  /** When its activation last ended, monotonic milliseconds. */
  endedAt: number;
  /** It has been activated again since. */
  active: boolean;
}

/**
 * Keeps the actors whose activation a fault ended, and when each may be activated again: soon at
 * first, then at growing intervals while it keeps failing.
 */
export class RestartBackoff {
  readonly #backoff = new Map<string, Relapse>();

  /** How many actors failed recently, activated again or not. */
  get size(): number {
    return this.#backoff.size;
  }

  /** Notes that an activation failed or could not start; `now` in monotonic milliseconds. */
  failed(id: string, now: number): void {
    const before = this.#backoff.get(id);
    const isNew = before === undefined || now - before.endedAt >= RECOVERED;
    this.#backoff.set(id, { times: isNew ? 1 : before.times + 1, endedAt: now, active: false });
  }

  /** The actors to activate now; `now` in monotonic milliseconds. */
  due(now: number): string[] {
    const due: string[] = [];
    for (const [id, { times, endedAt, active }] of this.#backoff) {
      const since = now - endedAt;
      if (active && since >= RECOVERED) this.#backoff.delete(id);
      if (!active && since >= backOff(times, RESTART_WAITS)) due.push(id);
    }
    return due;
  }

  /** True while the actor must not be activated yet; `now` in monotonic milliseconds. */
  isBackingOff(id: string, now: number): boolean {
    const relapse = this.#backoff.get(id);
    if (relapse === undefined || relapse.active) return false;
    return now - relapse.endedAt < backOff(relapse.times, RESTART_WAITS);
  }

  activated(id: string): void {
    const relapse = this.#backoff.get(id);
    if (relapse !== undefined) relapse.active = true;
  }

  /** Removes an actor that another host has taken over or that no longer exists. */
  forget(id: string): void {
    this.#backoff.delete(id);
  }
}
