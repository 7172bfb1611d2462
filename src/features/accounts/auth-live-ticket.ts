import { Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { LiveTickets } from "./live-tickets.ts";

export interface LiveTicketPorts {
  liveTickets: Pick<LiveTickets, "issue">;
}

/** POST /auth/live-ticket. */
export function liveTicketRoutes({ liveTickets }: LiveTicketPorts): Route[] {
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
        schema: Type.Object({ ticket: Type.String(), expires_at: Type.String() }),
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
