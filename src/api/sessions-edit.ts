import { Type } from "@sinclair/typebox";
import { maySession } from "../auth/policy.ts";
import type { RevocationFeed } from "../auth/revocation-feed.ts";
import { AppError } from "../base/errors.ts";
import { defineRoute, type Route } from "./route.ts";
import { assertAllowed, requireSession } from "./sessions-access.ts";
import type { SessionDirectory } from "./sessions-directory.ts";
import { presentSession, sessionParams, sessionSchema } from "./sessions-schema.ts";

export interface SessionChange {
  title?: string | undefined;
  visibility?: "private" | "workspace" | undefined;
  guestAccess?: "open" | "closed" | undefined;
}

/** Port: changes what a session's owner decides. Closing guest access ends its guests' tokens. */
export interface SessionEdits {
  change(sessionId: string, change: SessionChange): Promise<void>;
}

export interface SessionEditPorts {
  directory: SessionDirectory;
  sessionEdits: SessionEdits;
  revocations: Pick<RevocationFeed, "publish">;
}

const body = Type.Object({
  title: Type.Optional(Type.String({ maxLength: 200 })),
  visibility: Type.Optional(Type.Union([Type.Literal("private"), Type.Literal("workspace")])),
  guest_access: Type.Optional(Type.Union([Type.Literal("open"), Type.Literal("closed")])),
});

/** PATCH /sessions/{id}. */
export function sessionEditRoutes(ports: SessionEditPorts): Route[] {
  const { directory, sessionEdits, revocations } = ports;
  const edit = defineRoute({
    method: "patch",
    path: "/sessions/{session_id}",
    id: "editSession",
    tag: "Session",
    summary: "Change a session's title, who sees it, and whether guests may join",
    description:
      "By its owner; a moderator of its workspace may open and close guest access. Closing it ends the guests' tokens and connections within 5 s.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: { kind: "json", schema: body },
    responses: { 200: { description: "The session as it stands", schema: sessionSchema } },
    errors: ["invalid_body", "forbidden", "guest_access_closed", "not_found"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.guests"),
    async handle({ params, body: change }, { principal, facts }) {
      const { title, visibility, guest_access: guestAccess } = change;
      if (title !== undefined || visibility !== undefined) {
        assertAllowed(maySession(principal, "session.edit", facts));
      }
      if (Object.keys(change).length === 0) {
        throw new AppError("invalid_body", "Send `title`, `visibility` or `guest_access`.");
      }
      const { session_id: sessionId } = params;
      await sessionEdits.change(sessionId, { title, visibility, guestAccess });
      if (guestAccess === "closed" || visibility === "private") {
        revocations.publish({ kind: "session_guests", sessionId });
      }
      const session = await directory.get(sessionId);
      if (session === undefined) throw new AppError("not_found", "There is no such session.");
      return { status: 200, body: presentSession(session) };
    },
  });
  return [edit];
}
