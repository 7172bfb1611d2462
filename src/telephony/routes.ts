import { Type } from "@sinclair/typebox";
import { toTimestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { FeatureContext } from "../conversations/context.ts";
import type { DeviceSessionStore } from "../conversations/recording/device-sessions-store.ts";
import { requireSession } from "../conversations/sessions/access.ts";
import { sessionParams } from "../conversations/sessions/schema.ts";
import type { SessionStore } from "../conversations/sessions/store.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../rest/route.ts";
import { socketAddress } from "../rest/socket-address.ts";
import type { LiveTickets } from "../tenancy/accounts/live-tickets.ts";

/** The WebSocket for calls. */
export const CALL_PATH = "/api/compat/twilio/stream";

interface TelephonyRouteOptions {
  tickets: Pick<LiveTickets, "issueForCall">;
  directory: SessionStore;
  /** The public address, e.g. `https://voice.example.org`; the request's Host when absent. */
  publicUrl: string | undefined;
}

/** POST /sessions/{session_id}/call-tickets. */
function telephonyRoutes({ tickets, directory, publicUrl }: TelephonyRouteOptions): Route[] {
  const issue = defineRoute({
    method: "post",
    path: "/sessions/{session_id}/call-tickets",
    id: "issueCallTicket",
    tag: "Session",
    summary: "A ticket with which a telephone call streams into the session",
    description:
      "For service keys with `sessions:write` and the session's owner. Good for 5 min and one call: a WebSocket at `stream_url` that speaks as Twilio's Media Streams do, with the ticket as the parameter `ticket` of its start message. The call has the rights of whoever made the ticket, as they are then: it ends with them. *Telephone calls* at the head of this document shows it.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    responses: {
      201: {
        description: "The ticket",
        schema: Type.Object({
          ticket: Type.String({
            description: "For the parameter `ticket` of the start message: 5 min, one call",
          }),
          expires_at: Type.String({ examples: ["2026-01-31T09:35:00.000Z"] }),
          stream_url: Type.String({
            description: "The WebSocket, for `url` of `<Stream>`",
            examples: ["wss://voice.example.org/api/compat/twilio/stream"],
          }),
        }),
      },
    },
    errors: ["session_ended"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.upload"),
    async handle({ headers }, { principal, facts }) {
      const session = await directory.get(facts.id);
      if (session?.status !== "recording") {
        throw new AppError("session_ended", "The session has ended; it takes no more audio.");
      }
      const { ticket, expiresAt } = await tickets.issueForCall(principal, facts.id);
      const stream_url = socketAddress(publicUrl, headers, CALL_PATH);
      return { status: 201, body: { ticket, expires_at: toTimestamp(expiresAt), stream_url } };
    },
  });
  return [issue];
}

interface CreateTelephonyOptions {
  directory: SessionStore;
  deviceSessions: Pick<DeviceSessionStore, "stop">;
  liveTickets: LiveTickets;
  publicUrl: string | undefined;
}

/** Telephone calls that stream into sessions. */
export function createTelephony(
  { notifier, log }: FeatureContext,
  { directory, deviceSessions: sessions, liveTickets: tickets, publicUrl }: CreateTelephonyOptions,
) {
  return {
    /** What calls need besides the streams. */
    calls: { tickets, directory, sessions, notifier, log },
    routes: telephonyRoutes({ tickets, directory, publicUrl }),
  };
}
