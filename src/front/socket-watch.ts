import type { Principal } from "../auth/principal.ts";
import type { RevocationEvent } from "../auth/revocation-feed.ts";
import type { Clock } from "../base/clock.ts";
import { delay } from "../base/deferred.ts";
import type { Pacing } from "../base/gcra.ts";
import { CLOSE, type CloseCode } from "../wire/live-frames.ts";
import type { LiveLimits } from "./live-limits.ts";
import type { UwsConnection } from "./uws-connection.ts";

/** The longest wait that a socket is asked for before it comes back, in milliseconds. */
const RETURN_MS = 1_000;

/** What the watch needs of a connection. */
export type Pingable = Pick<UwsConnection<unknown>, "ping" | "gone">;

/** What the watch needs of a socket. */
export interface WatchedSocket {
  readonly principal: Principal;
  follows(sessionId: string): boolean;
  /** Asks again who calls and what that caller may. */
  recheck(): Promise<void>;
  close(code: CloseCode, reason: string): void;
  /** The transport is gone. */
  closed(): void;
}

export interface OpenSocket<S extends WatchedSocket> extends Pacing {
  socket: S;
  connection: Pingable;
  /** Whole monotonic milliseconds: of a number with a fraction each socket would hold a box. */
  heardAt: number;
  pingedAt: number;
  checkedAt: number;
}

/** Every open live socket, and the ends that time and lost rights put to them. */
export class SocketWatch<S extends WatchedSocket> {
  readonly #limits: LiveLimits;
  readonly #clock: Clock;
  readonly #sockets = new Set<OpenSocket<S>>();
  readonly #callers = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: LiveLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  start(): void {
    const every = Math.max(10, Math.min(1000, this.#limits.recheckMs / 4));
    this.#timer = setInterval(() => this.sweep(), every);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get sockets(): readonly S[] {
    return [...this.#sockets].map(({ socket }) => socket);
  }

  get size(): number {
    return this.#sockets.size;
  }

  countOf(principalId: string): number {
    return this.#callers.get(principalId) ?? 0;
  }

  add(socket: S, connection: Pingable): OpenSocket<S> {
    const now = Math.floor(this.#clock.monotonic());
    // Spread, so that sockets of one moment are not all checked at one moment.
    const checkedAt = now - Math.floor(Math.random() * (this.#limits.recheckMs / 2));
    const open = { socket, connection, heardAt: now, pingedAt: now, checkedAt, arrival: 0 };
    this.#sockets.add(open);
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

  /** Whoever the event may concern is checked at once rather than at the next turn. */
  revoked(event: RevocationEvent): void {
    for (const { socket } of [...this.#sockets]) if (concerns(event, socket)) void socket.recheck();
  }

  /** Called every second or so. */
  sweep(): void {
    const now = Math.floor(this.#clock.monotonic());
    for (const open of [...this.#sockets]) this.#sweepOne(open, now);
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
    if (now - open.checkedAt < this.#limits.recheckMs) return;
    open.checkedAt = now;
    void socket.recheck();
  }
}

function concerns(event: RevocationEvent, socket: WatchedSocket): boolean {
  const { id } = socket.principal;
  switch (event.kind) {
    case "guest":
      return id === event.guestId;
    case "device":
      return id === event.deviceId;
    case "service_key":
      return id === event.keyId;
    case "session_guests":
      return socket.follows(event.sessionId);
    default:
      return id === event.userId;
  }
}
