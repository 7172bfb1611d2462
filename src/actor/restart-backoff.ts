const FIRST_WAIT = 500;
const LAST_WAIT = 60_000;
const MOST_DOUBLINGS = 10;
/** After an activation has lasted this long, earlier failures no longer count, milliseconds. */
export const RECOVERED = 10 * 60_000;

/** How long to back off after this many failures in a row, milliseconds. */
export function backoffAfter(times: number): number {
  return Math.min(LAST_WAIT, FIRST_WAIT * 2 ** Math.min(times - 1, MOST_DOUBLINGS));
}

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
      if (!active && since >= backoffAfter(times)) due.push(id);
    }
    return due;
  }

  /** True while the actor must not be activated yet; `now` in monotonic milliseconds. */
  isBackingOff(id: string, now: number): boolean {
    const relapse = this.#backoff.get(id);
    if (relapse === undefined || relapse.active) return false;
    return now - relapse.endedAt < backoffAfter(relapse.times);
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
