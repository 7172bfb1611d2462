import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal } from "../../access/principal.ts";
import { withTimeout } from "../../base/deferred.ts";
import { AppError } from "../../base/errors.ts";
import { type Incoming, parseQuery } from "../server/incoming.ts";
import type { Origins } from "../server/origins.ts";
import { enforce, type RateLimits } from "../server/rate-limits.ts";
import type { TicketRedeemer } from "./ticket-redeemer.ts";

interface SocketGateParts {
  authenticator: Authenticator;
  tickets: TicketRedeemer;
  rates: RateLimits;
  origins: Origins;
  /** What a caller may show instead of a ticket. */
  accepted: Parameters<Authenticator["authenticate"]>[1];
  /** Sockets that may be open at once. */
  limit: number;
}

const AUTHENTICATE_MS = 10_000;

/** What every WebSocket passes before it is one: limits, origin, and who calls. */
export class SocketGate {
  readonly #parts: SocketGateParts;
  #draining = false;
  #refused = 0;

  constructor(parts: SocketGateParts) {
    this.#parts = parts;
  }

  /** From now on nobody passes. */
  drain(): void {
    this.#draining = true;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Callers sent away because as many sockets as may be were open. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Who calls. Throws `unavailable` while draining, `rate_limited`, `forbidden` for a page of
   * another origin, `overloaded` when `open` sockets are all that may be, or why they are nobody.
   */
  async admit(incoming: Incoming, open: number): Promise<Principal> {
    const { rates, origins, limit } = this.#parts;
    if (this.#draining)
      throw new AppError("unavailable", "The service is stopping.", { retryAfter: 1 });
    enforce(rates.address(incoming.address));
    if (!origins.mayConnect(incoming.headers)) {
      throw new AppError("forbidden", "Pages of this origin may not open a live connection.");
    }
    if (open >= limit) {
      this.#refused += 1;
      throw new AppError("overloaded", "Too many live connections.", { retryAfter: 5 });
    }
    return withTimeout(this.#identify(incoming), AUTHENTICATE_MS, "Signing in");
  }

  #identify({ query, headers }: Incoming): Promise<Principal> {
    const ticket = parseQuery(query).ticket;
    const { tickets, authenticator, accepted } = this.#parts;
    if (typeof ticket === "string" && ticket !== "") return tickets.redeem(ticket);
    return authenticator.authenticate(headers, accepted);
  }
}
