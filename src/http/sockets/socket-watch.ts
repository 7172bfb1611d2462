import type { RevocationFeed } from "../../access/revocations.ts";
import { type RightHolder, RightsWatch } from "../../access/rights-watch.ts";
import type { Clock } from "../../base/clock.ts";
import { delay } from "../../base/deferred.ts";
import type { Pacing } from "../../base/gcra.ts";
import { CLOSE, type CloseCode } from "../../wire/close-codes.ts";
import type { LiveLimits } from "./live-limits.ts";
import type { UwsConnection } from "./uws-connection.ts";

/** Longest delay before reconnecting that a socket is told, milliseconds. */
const RETURN_MS = 1_000;

/** The part of a connection that the watch uses. */
type Pingable = Pick<UwsConnection<unknown>, "ping" | "gone">;

/** The part of a socket that the watch uses. */
export interface WatchedSocket extends RightHolder {
  close(code: CloseCode, reason: string): void;
  /** The connection was lost. */
  closed(): void;
}

export interface OpenSocket<S extends WatchedSocket> extends Pacing {
  socket: S;
  connection: Pingable;
  /** Whole monotonic milliseconds, because the engine would allocate a fraction on the heap. */
  heardAt: number;
  pingedAt: number;
}

/** Longest time between two sweeps of all sockets, milliseconds. */
const SWEEP_MS = 1_000;

/** Holds every open socket, and closes those that are idle, expired or without a right. */
export class SocketWatch<S extends WatchedSocket> {
  readonly #limits: LiveLimits;
  readonly #clock: Clock;
  readonly #sockets = new Set<OpenSocket<S>>();
  readonly #rights: RightsWatch<S>;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: LiveLimits, clock: Clock, revocations: Pick<RevocationFeed, "subscribe">) {
    this.#limits = limits;
    this.#clock = clock;
    this.#rights = new RightsWatch({ holders: () => this.sockets(), revocations, clock });
  }

  start(): void {
    const every = Math.max(10, Math.min(SWEEP_MS, this.#limits.pingMs / 4));
    this.#timer = setInterval(() => this.sweep(), every);
    this.#rights.start();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#rights.stop();
  }

  *sockets(): Iterable<S> {
    for (const { socket } of this.#sockets) yield socket;
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Number of revocations seen so far. */
  get news(): number {
    return this.#rights.news;
  }

  /**
   * Adds a socket.
   *
   * @param news the value of `news` before the caller's right was checked
   */
  add(socket: S, connection: Pingable, news: number): OpenSocket<S> {
    const now = Math.floor(this.#clock.monotonic());
    const open = { socket, connection, heardAt: now, pingedAt: now, arrival: 0 };
    this.#sockets.add(open);
    // A revocation may have come between that check and now.
    if (news !== this.news) this.#rights.check(socket);
    return open;
  }

  /** Removes a socket that the transport closed. */
  remove(open: OpenSocket<S>): void {
    open.connection.gone();
    open.socket.closed();
    this.#sockets.delete(open);
  }

  heard(open: OpenSocket<S> | undefined): void {
    if (open !== undefined) open.heardAt = Math.floor(this.#clock.monotonic());
  }

  /**
   * Closes every socket, each at a random moment of the next `spreadMs` and with a random wait
   * before it should come back. Resolves when all are closed.
   */
  async sendAway(code: CloseCode, why: string, spreadMs: number): Promise<void> {
    const away = [...this.#sockets].map(async ({ socket }) => {
      const wait = Math.round(Math.random() * RETURN_MS);
      if (spreadMs > 0) await delay(Math.random() * spreadMs);
      socket.close(code, `${why}; please reconnect in ${wait} ms.`);
    });
    if (spreadMs > 0) await delay(spreadMs);
    await Promise.all(away);
  }

  /** Pings, and closes idle and expired sockets; called about once a second. */
  sweep(): void {
    const now = Math.floor(this.#clock.monotonic());
    for (const open of [...this.#sockets]) this.#sweepOne(open, now);
    this.#rights.sweep();
  }

  #sweepOne(open: OpenSocket<S>, now: number): void {
    const { socket } = open;
    if (socket.principal.expiresAt <= this.#clock.now()) {
      return socket.close(CLOSE.auth, "Your access has expired; sign in again.");
    }
    if (now - open.heardAt >= this.#limits.idleMs) {
      return socket.close(CLOSE.idle, "Nothing was heard from you.");
    }
    // A socket that sends needs no ping.
    if (now - Math.max(open.pingedAt, open.heardAt) >= this.#limits.pingMs) {
      open.pingedAt = now;
      open.connection.ping();
    }
  }
}
