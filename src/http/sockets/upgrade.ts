import {
  App,
  type HttpResponse,
  us_listen_socket_close,
  type us_socket_context_t,
  us_socket_local_port,
} from "uWebSockets.js";
import { connect, type Socket } from "node:net";
import type { Authenticator } from "../../access/authenticator.ts";
import { accountOf, type Principal } from "../../access/principal.ts";
import { ConcurrencyLimit, type Slot } from "../../base/concurrency-limit.ts";
import { createDeferred, withTimeout } from "../../base/deferred.ts";
import { AppError, toAppError } from "../../base/errors.ts";
import type { RateVerdict } from "../../base/gcra.ts";
import type { QueueFigures } from "../../base/queue-metrics.ts";
import type { Origins } from "../server/caller.ts";
import { enforce, type RateLimits, rateHeaders } from "../server/limits.ts";
import { problemAnswer } from "../server/problem.ts";
import { type Incoming, parseQuery } from "../server/request.ts";
import { bodyLength } from "../server/request-body.ts";
import { renderAnswer, writeHead } from "../server/response.ts";
import type { LiveLimits, SocketHolder } from "./live-limits.ts";
import type { SocketLog } from "./socket-log.ts";

interface SocketAdmissionOptions {
  authenticator: Authenticator;
  /** Undefined where no ticket is taken. */
  tickets: TicketRedeemer | undefined;
  rates: RateLimits;
  origins: Origins;
  /** Credentials that are accepted instead of a ticket. */
  accepted: Parameters<Authenticator["authenticate"]>[1];
  limits: LiveLimits;
  /** How many sockets one caller may have. */
  perCaller: number;
}

/** A caller that may open a socket, and the slot that is taken for it. */
interface Admitted<P extends Principal> {
  principal: P;
  /** To be left when the socket has closed, or is not opened. */
  slot: Slot<SocketHolder>;
}

const AUTHENTICATE_MS = 10_000;

/** Checks every WebSocket before it opens: limits, origin and caller. */
export class SocketAdmission {
  readonly #options: SocketAdmissionOptions;
  readonly #slots: ConcurrencyLimit<SocketHolder>;
  #draining = false;

  constructor(options: SocketAdmissionOptions) {
    const { limits, perCaller } = options;
    this.#options = options;
    this.#slots = new ConcurrencyLimit({
      what: "live connections",
      capacity: limits.sockets,
      shares: { ...limits.shares, caller: perCaller },
    });
  }

  /** Refuses all callers from now on. */
  drain(): void {
    this.#draining = true;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Figures of the sockets that are open or being opened. */
  figures(queue: string): QueueFigures {
    const { taken: length, refused } = this.#slots;
    return { queue, length, limit: this.#options.limits.sockets, refused };
  }

  /** Counts the request for its address. */
  pace(incoming: Incoming): RateVerdict {
    return this.#options.rates.address(incoming);
  }

  /**
   * Authenticates the caller. The socket's slot is taken before anything is awaited, so that those
   * that are opened at once are counted too. Throws `unavailable` while draining, `rate_limited`,
   * `bad_request` for a request whose end is in doubt, `forbidden` for a page of another origin,
   * `overloaded` when there are as many sockets as there may be, or the error of authentication.
   *
   * @param verdict of `pace`
   * @param check decides whether this caller may, and returns whom the socket counts for
   */
  async admit<P extends Principal>(
    incoming: Incoming,
    verdict: RateVerdict,
    check: (caller: Principal) => P | Promise<P>,
  ): Promise<Admitted<P>> {
    const slot = this.enter(incoming, verdict);
    try {
      const caller = await withTimeout(this.#identify(incoming), AUTHENTICATE_MS, "Signing in");
      const principal = await check(caller);
      claimSocket(slot, principal);
      return { principal, slot };
    } catch (error) {
      slot.release();
      throw error;
    }
  }

  /**
   * Takes the slot of a socket whose caller is not known yet, and has to be claimed for with
   * `claimSocket` then. Throws what `admit` does before it authenticates.
   */
  enter(incoming: Incoming, verdict: RateVerdict): Slot<SocketHolder> {
    const { origins } = this.#options;
    if (this.#draining)
      throw new AppError("unavailable", "The service is stopping.", { retryAfter: 1 });
    enforce(verdict);
    const fault = incoming.fault ?? bodyFault(incoming);
    if (fault !== undefined) throw new AppError("bad_request", fault);
    if (!origins.mayConnect(incoming.headers)) {
      throw new AppError("forbidden", "Pages of this origin may not open a live connection.");
    }
    const slot = this.#slots.acquire();
    try {
      slot.claim("network", incoming.network);
      slot.claim("site", incoming.site);
      return slot;
    } catch (error) {
      slot.release();
      throw error;
    }
  }

  #identify({ query, headers }: Incoming): Promise<Principal> {
    const ticket = parseQuery(query).ticket;
    const { tickets, authenticator, accepted } = this.#options;
    if (tickets !== undefined && typeof ticket === "string" && ticket !== "") {
      return tickets.redeem(ticket);
    }
    return authenticator.authenticate(headers, accepted);
  }
}

/** Counts the socket for its caller. Throws `rate_limited` when they have as many as they may. */
export function claimSocket(slot: Slot<SocketHolder>, principal: Principal): void {
  slot.claim("caller", principal.id);
  if ("workspaceId" in principal) slot.claim("workspace", principal.workspaceId);
  slot.claim("account", accountOf(principal));
  if (principal.kind !== "guest") return;
  slot.claim("session", principal.sessionId);
  slot.claim("guests", "");
}

/** The bytes of a body would be read as frames. */
function bodyFault({ headers }: Incoming): string | undefined {
  if (bodyLength(headers) === 0) return undefined;
  return "A request that opens a WebSocket has no body.";
}

/** Exchanges a live ticket, once, for the caller it was issued to. */
export interface TicketRedeemer {
  /** Throws an AppError of status 401 for an unknown, used or expired ticket. */
  redeem(ticket: string): Promise<Principal>;
}

/** How an answer is told where the caller is another service's client. */
export interface Answered {
  /** How a refusal is told. */
  spoken?: Parameters<typeof problemAnswer>[1];
  /** Chooses one of the subprotocols; by default it is said back as it is. */
  protocol?(offered: string): string;
}

interface UpgradeOptions extends Answered {
  /** Of the request's address: a refusal tells it, as others do. */
  verdict: RateVerdict;
  origins: Origins;
  cork: UpgradeCork;
  log: SocketLog;
  /** Further headers of the answer. */
  headers: Readonly<Record<string, string>>;
}

/**
 * Turns the request into a WebSocket with `admitted` as its data, or answers with the error. The
 * slot of a caller that has gone meanwhile is left.
 */
export function upgrade<T extends Pick<Admitted<Principal>, "slot">>(
  res: HttpResponse,
  context: us_socket_context_t,
  incoming: Incoming,
  options: UpgradeOptions,
  admitted: Promise<T>,
): void {
  let gone = false;
  res.onAborted(() => {
    gone = true;
  });
  admitted.then(
    (data) => {
      if (gone) data.slot.release();
      else accept(res, context, incoming, options, data);
    },
    (error: unknown) => {
      options.log.refused(incoming, toAppError(error));
      // Until this is answered, uWebSockets.js ends the connection at another request: so none that
      // came in the same packet is served.
      setImmediate(() => {
        if (!gone) refuse(res, options, incoming, error);
      });
    },
  );
}

function accept<T>(
  res: HttpResponse,
  context: us_socket_context_t,
  { id, headers }: Incoming,
  { cork, headers: extra, protocol = (offered) => offered }: UpgradeOptions,
  data: T,
): void {
  res.cork(() => {
    res.writeStatus("101 Switching Protocols");
    res.writeHeader("X-Request-Id", id);
    res.writeHeader("X-API-Version", "1.0");
    for (const [name, value] of Object.entries(extra)) res.writeHeader(name, value);
  });
  cork.run(() =>
    res.upgrade(
      data,
      headers["sec-websocket-key"] ?? "",
      protocol(headers["sec-websocket-protocol"] ?? ""),
      headers["sec-websocket-extensions"] ?? "",
      context,
    ),
  );
}

function refuse(
  res: HttpResponse,
  { origins, verdict, spoken }: UpgradeOptions,
  incoming: Incoming,
  error: unknown,
): void {
  const answer = problemAnswer(error, spoken);
  const { head, payload } = renderAnswer(answer, {
    ...rateHeaders(verdict),
    ...origins.headers(incoming.headers),
  });
  res.cork(() => {
    writeHead(res, answer.status, incoming.id, head);
    res.end(payload ?? "", true);
  });
}

const START_MS = 10_000;

/**
 * Corks the upgrades to WebSockets.
 *
 * uWebSockets.js writes a warning to standard error for each upgrade outside of a cork. But a
 * response that is upgraded within its own cork may be closed by it: the upgrade shrinks its memory
 * in place, and the end of the cork, which knows only the WebSocket's new address, then reads
 * "close after this answer" from freed bytes. So upgrades run in the cork of another response: one
 * to ourselves over loopback that is never answered.
 */
export class UpgradeCork {
  #response: HttpResponse | undefined;
  #client: Socket | undefined;

  /** Rejects when loopback cannot be used. */
  async start(): Promise<void> {
    const response = createDeferred<HttpResponse>();
    const app = App();
    app.any("/*", (res) => {
      res.onAborted(() => {
        this.#response = undefined;
      });
      response.resolve(res);
    });
    app.listen("127.0.0.1", 0, (listening) => {
      if (!listening) return response.reject(new Error("Cannot listen on 127.0.0.1."));
      const client = connect(us_socket_local_port(listening), "127.0.0.1");
      this.#client = client.unref();
      client.on("error", (error) => response.reject(error));
      client.on("connect", () => {
        us_listen_socket_close(listening);
        client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      });
    });
    this.#response = await withTimeout(response.promise, START_MS, "Connecting to ourselves");
  }

  /** Runs `work` synchronously, within the cork if there is one. */
  run(work: () => void): void {
    if (this.#response === undefined) work();
    else this.#response.cork(work);
  }

  stop(): void {
    this.#response = undefined;
    this.#client?.destroy();
  }
}
