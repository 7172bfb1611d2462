import type { Clock } from "../base/clock.ts";
import type { LeaseView } from "./lease.ts";

interface HostWatchOptions {
  /** This host, which always counts as alive. */
  host: string;
  clock: Clock;
  leaseTime: number;
}

interface Seen {
  counter: number;
  /** How long its counter was seen unchanged, milliseconds. */
  silence: number;
  /** How many looks in a row found it without a connection. */
  absent: number;
  /** It was found gone, and its counter has not changed since. */
  gone: boolean;
}

/**
 * Finds out which hosts are alive, by this host's own monotonic clock.
 *
 * A host is gone when its counter has not changed for the lease time. A host whose connection to
 * the record has ended, as that of a killed one does at once, is gone when two polls in a row found
 * it so and its counter has not changed for a third of that time. Time in which this host could not
 * look does not count: a delay of its own, or of the record, takes no partition from other hosts,
 * and after a delay as long as a lease all counts start again.
 */
export class HostWatch {
  readonly #options: HostWatchOptions;
  readonly #seen = new Map<string, Seen>();
  /** Time of the last poll, monotonic milliseconds. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isBlind = false;

  constructor(options: HostWatchOptions) {
    this.#options = options;
  }

  /** Notes that the record did not answer. */
  blind(): void {
    this.#isBlind = true;
  }

  alive(view: LeaseView): Set<string> {
    const { host, clock, leaseTime } = this.#options;
    const now = clock.monotonic();
    const sinceLook = now - this.#lookedAt;
    const watched = this.#isBlind ? 0 : sinceLook;
    this.#lookedAt = now;
    this.#isBlind = false;
    for (const name of this.#seen.keys()) if (!view.hosts.has(name)) this.#seen.delete(name);
    const alive = new Set([host]);
    for (const [name, { counter, isConnected }] of view.hosts) {
      const seen = this.#note(name, counter, sinceLook >= leaseTime ? undefined : watched);
      if (name === host) continue;
      seen.absent = isConnected ? 0 : seen.absent + 1;
      seen.gone ||= this.#isGone(seen);
      if (!seen.gone) alive.add(name);
    }
    return alive;
  }

  /** @param watched milliseconds in which it was watched; undefined when the count starts again */
  #note(name: string, counter: number, watched: number | undefined): Seen {
    const known = this.#seen.get(name);
    const stands = known?.counter === counter;
    if (stands && known.gone) return known;
    if (stands && watched !== undefined) {
      known.silence += watched;
      return known;
    }
    const seen = { counter, silence: 0, absent: 0, gone: false };
    this.#seen.set(name, seen);
    return seen;
  }

  #isGone({ silence, absent }: Seen): boolean {
    const { leaseTime } = this.#options;
    return silence >= leaseTime || (absent >= 2 && silence >= leaseTime / 3);
  }
}
