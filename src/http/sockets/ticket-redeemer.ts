import type { Principal } from "../../access/principal.ts";

/** Exchanges a live ticket, once, for the caller it was issued to. */
export interface TicketRedeemer {
  /** Throws an AppError of status 401 for an unknown, used or expired ticket. */
  redeem(ticket: string): Promise<Principal>;
}
