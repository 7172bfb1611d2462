import type { RevocationFeed } from "../../access/revocations.ts";
import { type RightHolder, RightsWatch } from "../../access/rights-watch.ts";
import type { Clock } from "../../base/clock.ts";
import { delay } from "../../base/deferred.ts";
import type { Pacing } from "../../base/gcra.ts";
import { CLOSE, type CloseCode } from "../../wire/live-frames.ts";
import type { LiveLimits } from "./live-limits.ts";
import type { UwsConnection } from "./uws-connection.ts";

/** The longest wait that a socket is asked for before it comes back, in milliseconds. */
const RETURN_MS = 1_000;

/** What the watch needs of a connection. */
type Pingable = Pick<UwsConnection<unknown>, "ping" | "gone">;

/** What the watch needs of a socket. */
interface WatchedSocket extends RightHolder {
  close(code: CloseCode, reason: string): void;
  /** The transport is gone. */
  closed(): void;
}

export interface OpenSocket<S extends WatchedSocket> extends Pacing {
  socket: S;
  connection: Pingable;
  /** Whole monotonic milliseconds, since the engine allocates a number with a fraction on the heap. */
  heardAt: number;
  pingedAt: number;
}

/** The longest time between two looks at all sockets, in milliseconds. */
const SWEEP_MS = 1_000;

/** Every open live socket, and the ends that time and lost rights put to them. */
export class SocketWatch<S extends WatchedSocket> {
  readonly #limits: LiveLimits;
  readonly #clock: Clock;
  readonly #sockets = new Set<OpenSocket<S>>();
  readonly #callers = new Map<string, number>();
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

  countOf(principalId: string): number {
    return this.#callers.get(principalId) ?? 0;
  }

  /** How much was heard of ended rights so far. */
  get news(): number {
    return this.#rights.news;
  }

  /** `news`: as it was before the right of its caller was looked at. */
  add(socket: S, connection: Pingable, news: number): OpenSocket<S> {
    const now = Math.floor(this.#clock.monotonic());
    const open = { socket, connection, heardAt: now, pingedAt: now, arrival: 0 };
    this.#sockets.add(open);
    // Of what was heard meanwhile it was not there to be told.
    if (news !== this.news) this.#rights.check(socket);
    const { id } = socket.principal;
    this.#callers.set(id, this.countOf(id) + 1);
    return open;
  }

  /** The transport closed it. */
  remove(open: OpenSocket<S>): void {
    open.connection.gone();
    open.socket.closed();
    if (!this.#sockets.delete(open)) return;
    const { id } = open.socket.principal;
    const left = this.countOf(id) - 1;
    if (left > 0) this.#callers.set(id, left);
    else this.#callers.delete(id);
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

  /** Called every second or so. */
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
    // Who says something is there.
    if (now - Math.max(open.pingedAt, open.heardAt) >= this.#limits.pingMs) {
      open.pingedAt = now;
      open.connection.ping();
    }
  }
}
