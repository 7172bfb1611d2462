import { Type } from "@sinclair/typebox";
import type { RevocationFeed } from "../../access/revocations.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { acknowledge, acknowledged, defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import type { ElevationStore } from "./elevation-store.ts";

const OVER = "The elevation is over.";

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
    session_id: Type.Optional(
      Type.String({ description: "Without it and `workspace_id` all sessions are covered" }),
    ),
    workspace_id: Type.Optional(
      Type.String({
        description: "In place of `session_id`: covers the workspace and all its sessions",
      }),
    ),
    duration_minutes: Type.Optional(
      Type.Integer({
        description: "How long it is good, in minutes",
        minimum: 1,
        maximum: MAX_MINUTES,
        default: DEFAULT_MINUTES,
      }),
    ),
  },
  { examples: [{ reason: "Complaint 4711: check what was transcribed", duration_minutes: 15 }] },
);

const elevated = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.String({
      examples: ["Content is open to you for 15 min; every read is recorded."],
    }),
    elevation_id: Type.String(),
    session_id: Type.Optional(Type.String()),
    workspace_id: Type.Optional(Type.String()),
    expires_at: timestamp,
  },
  { $id: "Elevation" },
);

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
      "Opens the words and audio of one session, of all sessions of a workspace, or of all to the calling administrator, and lets him give others membership there. The reason, every read and every membership given under it stand in the audit log; what cannot be recorded is not shown. To make a member of a workspace a moderator takes an elevation without `session_id` and `workspace_id`.",
    auth: ["bearer"],
    roles: ["admin"],
    body: { kind: "json", schema: body },
    responses: {
      200: {
        description: "The elevation in force",
        schema: elevated,
        example: {
          session_id: undefined,
          workspace_id: undefined,
          expires_at: "2026-01-31T09:45:00.000Z",
        },
      },
    },
    errors: ["not_found"],
    async handle({ principal, body: wish }) {
      const admin = requireUser(principal);
      const minutes = wish.duration_minutes ?? DEFAULT_MINUTES;
      const { session_id: sessionId, workspace_id: workspaceId } = wish;
      if (sessionId !== undefined && workspaceId !== undefined) {
        throw new AppError("invalid_body", "Give `session_id` or `workspace_id`, not both.");
      }
      if (sessionId !== undefined && !isId(sessionId)) throw unknownPlace("session");
      if (workspaceId !== undefined && !isId(workspaceId)) throw unknownPlace("workspace");
      const elevation = {
        id: newId(),
        adminId: admin.id,
        sessionId,
        workspaceId,
        reason: wish.reason.trim(),
        expiresAt: clock.now() + minutes * MINUTE,
      };
      if (!(await elevations.open(elevation))) {
        throw unknownPlace(workspaceId === undefined ? "session" : "workspace");
      }
      return {
        status: 200,
        body: {
          success: true,
          message: `Content is open to you for ${minutes} min; every read is recorded.`,
          elevation_id: elevation.id,
          session_id: sessionId,
          workspace_id: workspaceId,
          expires_at: toTimestamp(elevation.expiresAt),
        },
      };
    },
  });
}

function unknownPlace(kind: "session" | "workspace"): AppError {
  return new AppError("not_found", `There is no ${kind} with the id in ${kind}_id.`);
}

function endElevation({ elevations, revocations }: ElevationOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/admin/content-elevate/{elevation_id}",
    id: "endContentElevation",
    tag: "Admin",
    summary: "End an elevation before its time",
    description:
      "Any administrator may; open sockets that it allowed close within 5 s, and guests who came in under it are out.",
    auth: ["bearer"],
    roles: ["admin"],
    params: Type.Object({ elevation_id: Type.String() }),
    responses: { 200: acknowledged(OVER) },
    async handle({ principal, params }) {
      const ended = await elevations.end(params.elevation_id, requireUser(principal));
      if (ended === undefined) {
        throw new AppError("not_found", "There is no elevation with this id.");
      }
      revocations.publish({ kind: "user", userId: ended.adminId });
      return acknowledge(OVER);
    },
  });
}
