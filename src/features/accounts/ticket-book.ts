import type { Principal } from "../../access/principal.ts";

/** Tickets on record, by the hash of what was handed out. */
export interface TicketBook {
  put(ticketHash: Uint8Array, principal: Principal, expiresAt: number): Promise<void>;
  /** The ticket's principal, at most once; undefined when unknown, used, or expired at `now`. */
  take(ticketHash: Uint8Array, now: number): Promise<Principal | undefined>;
}
