import { Type } from "@sinclair/typebox";
import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal } from "../../access/principal.ts";
import { randomText, secretHash } from "../../access/secrets.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { Ticketed, TicketStore, TicketUse } from "./live-tickets-store.ts";

/** Milliseconds. */
const LIFETIME = 30_000;
/** Of one for a call, which first has to be put through. */
const CALL_LIFETIME = 5 * 60_000;
const LENGTH = 43;
const FORM = /^[0-9A-Za-z]{43}$/;

/**
 * Issues tickets that open a WebSocket where no header can be sent. Each works once, within 30 s; one
 * for a telephone call within 5 min.
 */
export class LiveTickets {
  readonly #store: TicketStore;
  readonly #authenticator: Authenticator;
  readonly #clock: Clock;

  constructor(store: TicketStore, authenticator: Authenticator, clock: Clock) {
    this.#store = store;
    this.#authenticator = authenticator;
    this.#clock = clock;
  }

  issue(principal: Principal): Promise<IssuedTicket> {
    return this.#issue({ principal }, LIFETIME);
  }

  /** One with which a call may stream into the session, and nothing else. */
  issueForCall(principal: Principal, sessionId: string): Promise<IssuedTicket> {
    return this.#issue({ principal, sessionId }, CALL_LIFETIME);
  }

  async #issue(what: Ticketed, lifetime: number): Promise<IssuedTicket> {
    const ticket = randomText(LENGTH);
    const expiresAt = this.#clock.now() + lifetime;
    await this.#store.put(secretHash(ticket), what, expiresAt);
    return { ticket, expiresAt };
  }

  /**
   * Returns the ticket's principal, at most once per ticket. Rejects with `invalid_token`, also
   * when the holder's right has ended since.
   */
  async redeem(ticket: string): Promise<Principal> {
    return (await this.#take(ticket, "socket")).principal;
  }

  /** Returns who made the ticket for a call, and the session. Rejects as `redeem` does. */
  async redeemForCall(ticket: string): Promise<{ principal: Principal; sessionId: string }> {
    const { principal, sessionId } = await this.#take(ticket, "call");
    if (sessionId === undefined) throw new AppError("internal", "The ticket has no session.");
    return { principal, sessionId };
  }

  async #take(ticket: string, use: TicketUse): Promise<Ticketed> {
    const found = FORM.test(ticket)
      ? await this.#store.take(secretHash(ticket), use, this.#clock.now())
      : undefined;
    if (found === undefined) {
      throw new AppError("invalid_token", "The ticket is unknown, used or expired.");
    }
    return { ...found, principal: await this.#authenticator.revalidate(found.principal) };
  }
}

interface IssuedTicket {
  ticket: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

interface LiveTicketOptions {
  liveTickets: Pick<LiveTickets, "issue">;
}

/** POST /auth/live-ticket. */
export function liveTicketRoutes({ liveTickets }: LiveTicketOptions): Route[] {
  const issue = defineRoute({
    method: "post",
    path: "/auth/live-ticket",
    id: "issueLiveTicket",
    tag: "Auth",
    summary: "A ticket that opens one WebSocket where no header can be sent",
    description: "Good for 30 s and one use, as `?ticket=` of the WebSocket's address.",
    auth: ["bearer", "device_key", "service_key"],
    responses: {
      201: {
        description: "The ticket",
        schema: Type.Object({
          ticket: Type.String({
            description: "For `?ticket=` of the WebSocket's address: 30 s, one use",
          }),
          expires_at: Type.String({ examples: ["2026-01-31T09:30:30.000Z"] }),
        }),
      },
    },
    async handle({ principal }) {
      if (principal === undefined) throw new AppError("unauthorized", "Please sign in.");
      const { ticket, expiresAt } = await liveTickets.issue(principal);
      return { status: 201, body: { ticket, expires_at: toTimestamp(expiresAt) } };
    },
  });
  return [issue];
}
