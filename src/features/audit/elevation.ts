import { Type } from "@sinclair/typebox";
import type { RevocationFeed } from "../../access/revocations.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { acknowledge, acknowledgementSchema, defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import type { ElevationStore } from "./elevation-store.ts";

const MINUTE = 60_000;
const DEFAULT_MINUTES = 30;
const MAX_MINUTES = 240;

interface ElevationOptions {
  elevations: ElevationStore;
  revocations: Pick<RevocationFeed, "publish">;
  clock: Clock;
}

const body = Type.Object(
  {
    reason: Type.String({
      minLength: 10,
      maxLength: 500,
      pattern: "\\S[\\s\\S]{8,}\\S",
      description: "Why the content must be seen; kept in the audit log",
    }),
    session_id: Type.Optional(Type.String({ description: "Without it all sessions are covered" })),
    duration_minutes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_MINUTES, default: DEFAULT_MINUTES }),
    ),
  },
  { examples: [{ reason: "Complaint 4711: check what was transcribed", duration_minutes: 15 }] },
);

const elevated = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  elevation_id: Type.String(),
  session_id: Type.Optional(Type.String()),
  expires_at: timestamp,
});

/** POST /admin/content-elevate and DELETE /admin/content-elevate/{id}. */
export function elevationRoutes(options: ElevationOptions): Route[] {
  return [openElevation(options), endElevation(options)];
}

function openElevation({ elevations, clock }: ElevationOptions): Route {
  return defineRoute({
    method: "post",
    path: "/admin/content-elevate",
    id: "elevateContent",
    tag: "Admin",
    summary: "See content of sessions for a while, with a reason on record",
    description:
      "Opens the words and audio of one session, or of all, to the calling administrator. The reason and every read under it stand in the audit log; what cannot be recorded is not shown.",
    auth: ["bearer"],
    roles: ["admin"],
    body: { kind: "json", schema: body },
    responses: { 200: { description: "The elevation in force", schema: elevated } },
    errors: ["not_found"],
    async handle({ principal, body: wish }) {
      const admin = requireUser(principal);
      const minutes = wish.duration_minutes ?? DEFAULT_MINUTES;
      const sessionId = wish.session_id;
      if (sessionId !== undefined && !isId(sessionId)) throw unknownSession();
      const elevation = {
        id: newId(),
        adminId: admin.id,
        sessionId,
        reason: wish.reason.trim(),
        expiresAt: clock.now() + minutes * MINUTE,
      };
      if (!(await elevations.open(elevation))) throw unknownSession();
      return {
        status: 200,
        body: {
          success: true,
          message: `Content is open to you for ${minutes} min; every read is recorded.`,
          elevation_id: elevation.id,
          session_id: sessionId,
          expires_at: toTimestamp(elevation.expiresAt),
        },
      };
    },
  });
}

function unknownSession(): AppError {
  return new AppError("not_found", "There is no session with the id in session_id.");
}

function endElevation({ elevations, revocations }: ElevationOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/admin/content-elevate/{elevation_id}",
    id: "endContentElevation",
    tag: "Admin",
    summary: "End an elevation before its time",
    description: "Any administrator may; open sockets that it allowed close within 5 s.",
    auth: ["bearer"],
    roles: ["admin"],
    params: Type.Object({ elevation_id: Type.String() }),
    responses: { 200: { description: "It is over", schema: acknowledgementSchema } },
    async handle({ principal, params }) {
      const ended = await elevations.end(params.elevation_id, requireUser(principal));
      if (ended === undefined) {
        throw new AppError("not_found", "There is no elevation with this id.");
      }
      revocations.publish({ kind: "user", userId: ended.adminId });
      return acknowledge("The elevation is over.");
    },
  });
}
