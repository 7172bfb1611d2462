const FIRST_WAIT = 500;
const LAST_WAIT = 60_000;
const MOST_DOUBLINGS = 10;
/** An activation that lasted so long, milliseconds, owes nothing to the fault before. */
export const RECOVERED = 10 * 60_000;

/** How long to leave alone what failed so many times in a row, milliseconds. */
export function restAfter(times: number): number {
  return Math.min(LAST_WAIT, FIRST_WAIT * 2 ** Math.min(times - 1, MOST_DOUBLINGS));
}

interface Relapse {
  times: number;
  /** When its activation ended last, monotonic milliseconds. */
  endedAt: number;
  /** It is active again, as far as is known. */
  active: boolean;
}

/**
 * Actors whose activation a fault ended, and when each is to be taken up again: soon, and ever
 * more rarely when it fails time and again.
 */
export class RestartBackoff {
  readonly #backoff = new Map<string, Relapse>();

  /** Actors that were ended so not long ago, taken up again or not. */
  get size(): number {
    return this.#backoff.size;
  }

  /** Its activation ended, or could not begin; `now` in monotonic milliseconds. */
  failed(id: string, now: number): void {
    const before = this.#backoff.get(id);
    const isNew = before === undefined || now - before.endedAt >= RECOVERED;
    this.#backoff.set(id, { times: isNew ? 1 : before.times + 1, endedAt: now, active: false });
  }

  /** Those to be activated now. */
  due(now: number): string[] {
    const due: string[] = [];
    for (const [id, { times, endedAt, active }] of this.#backoff) {
      const since = now - endedAt;
      if (active && since >= RECOVERED) this.#backoff.delete(id);
      if (!active && since >= restAfter(times)) due.push(id);
    }
    return due;
  }

  /** It is left alone for now. */
  rests(id: string, now: number): boolean {
    const relapse = this.#backoff.get(id);
    if (relapse === undefined || relapse.active) return false;
    return now - relapse.endedAt < restAfter(relapse.times);
  }

  activated(id: string): void {
    const relapse = this.#backoff.get(id);
    if (relapse !== undefined) relapse.active = true;
  }

  /** It is somebody else's business, or nobody's. */
  forget(id: string): void {
    this.#backoff.delete(id);
  }
}
