import type { Clock } from "../base/clock.ts";
import type { LeaseTable, LeaseView } from "./lease.ts";

export interface HostWatchParts {
  /** This host: always alive to itself. */
  host: string;
  table: Pick<LeaseTable, "isConnected">;
  clock: Clock;
  leaseTime: number;
}

interface Seen {
  counter: number;
  /** For how long its counter was seen to stand still, milliseconds. */
  silence: number;
  /** Looks in a row that found it without a connection. */
  absent: number;
  /** It was found gone, and its counter has not moved since. */
  gone: boolean;
}

/**
 * Tells which hosts are alive, by this host's own monotonic clock.
 *
 * A host is gone when its counter has stood still for the lease time; a host
 * that has lost its connection to the lease store, as a killed one does at once,
 * when it has stood still for half of it and two looks found no connection. Time
 * in which this host could not look is nobody's silence: a slow moment of its
 * own, or of the lease store, takes no partition away from others, and after one
 * as long as a lease all begin anew.
 */
export class HostWatch {
  readonly #parts: HostWatchParts;
  readonly #seen = new Map<string, Seen>();
  /** When it could look last, monotonic milliseconds. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isBlind = false;

  constructor(parts: HostWatchParts) {
    this.#parts = parts;
  }

  /** The lease store did not answer. */
  blind(): void {
    this.#isBlind = true;
  }

  async alive(view: LeaseView): Promise<Set<string>> {
    const { host, clock, leaseTime } = this.#parts;
    const now = clock.monotonic();
    const sinceLook = now - this.#lookedAt;
    const watched = this.#isBlind ? 0 : sinceLook;
    this.#lookedAt = now;
    this.#isBlind = false;
    for (const [name, { counter }] of view.hosts) {
      this.#note(name, counter, sinceLook >= leaseTime ? undefined : watched);
    }
    for (const name of this.#seen.keys()) if (!view.hosts.has(name)) this.#seen.delete(name);
    const alive = new Set([host]);
    const checks = [...this.#seen].map(async ([name, seen]) => {
      seen.gone ||= name !== host && (await this.#isGone(name, seen));
      if (!seen.gone) alive.add(name);
    });
    await Promise.all(checks);
    return alive;
  }

  /** @param watched milliseconds in which it was watched; undefined when that has to begin anew */
  #note(name: string, counter: number, watched: number | undefined): void {
    const seen = this.#seen.get(name);
    const stands = seen?.counter === counter;
    if (stands && seen.gone) return;
    if (stands && watched !== undefined) seen.silence += watched;
    else this.#seen.set(name, { counter, silence: 0, absent: 0, gone: false });
  }

  async #isGone(name: string, seen: Seen): Promise<boolean> {
    const { leaseTime, table } = this.#parts;
    const { silence } = seen;
    if (silence >= leaseTime) return true;
    if (silence < leaseTime / 4) return false;
    seen.absent = (await table.isConnected(name)) ? 0 : seen.absent + 1;
    return seen.absent >= 2 && silence >= leaseTime / 2;
  }
}
