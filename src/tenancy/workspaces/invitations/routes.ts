import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { isId } from "../../../base/ids.ts";
import { requireUser } from "../../../rest/callers.ts";
import { exampleOf } from "../../../rest/examples.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../../rest/route.ts";
import { timestamp } from "../../../rest/schemas.ts";
import type { InvitationStore, OwnInvitation } from "./store.ts";

const DECLINED = "The invitation is declined.";

interface OwnInvitationOptions {
  store: InvitationStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/** GET /invitations, POST /invitations/{id}/accept and /decline. */
export function ownInvitationRoutes(options: OwnInvitationOptions): Route[] {
  return [listOwn(options), accept(options), decline(options)];
}

export const invitedRole = Type.Union(
  (["owner", "member", "participant", "shared"] as const).map((role) => Type.Literal(role)),
  {
    $id: "InvitedRole",
    description: "`owner` or `member` of a workspace; `participant` or `shared` of a session",
  },
);

const ownSchema = Type.Object(
  {
    id: Type.String(),
    kind: Type.Union([Type.Literal("workspace"), Type.Literal("session")]),
    workspace_name: Type.Optional(Type.String()),
    role: invitedRole,
    invited_by: Type.Object({ name: Type.String({ examples: ["Anna Brown"] }) }),
    created_at: timestamp,
    expires_at: Type.Unsafe<string>({ ...timestamp, examples: ["2026-02-14T09:30:00.000Z"] }),
  },
  { $id: "Invitation" },
);

function presentOwn(invitation: OwnInvitation): Static<typeof ownSchema> {
  return {
    id: invitation.id,
    kind: invitation.kind,
    workspace_name: invitation.workspaceName,
    role: invitation.role,
    invited_by: { name: invitation.inviterName },
    created_at: toTimestamp(invitation.createdAt),
    expires_at: toTimestamp(invitation.expiresAt),
  };
}

function listOwn({ store, cursorKey }: OwnInvitationOptions): Route {
  return defineRoute({
    method: "get",
    path: "/invitations",
    id: "listInvitations",
    tag: "Workspace",
    summary: "Invitations to the caller, newest first",
    description:
      "Those to the caller's id, and those to the caller's address once it is known to be theirs: after a sign-in by a mailed link, or at a provider that vouches for it. Of a session neither title nor id is shown before it is accepted. An invitation counts while whoever made it may still give what it offers.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    query: Type.Object(pageQuery),
    responses: {
      200: {
        description: "A page",
        schema: pageSchema(ownSchema),
        example: { items: [exampleOf(ownSchema, "", { role: "member" })] },
      },
    },
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const list = `invitations\u0000${caller.id}`;
      const found = await store.own(caller.id, toPageRequest(cursorKey, list, query));
      return { status: 200, body: toPageBody(cursorKey, list, found, presentOwn) };
    },
  });
}

/** The same for an unknown id as for one that is over, withdrawn, declined, or to somebody else. */
function unknownInvitation(): AppError {
  return new AppError("not_found", "There is no invitation with this id.");
}

const acceptedSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.String({ examples: ["You are a member now."] }),
    workspace_id: Type.Optional(Type.String({ description: "Of an invitation to a workspace" })),
    session_id: Type.Optional(Type.String({ description: "Of an invitation to a session" })),
  },
  { $id: "AcceptedInvitation" },
);

function accept({ store }: OwnInvitationOptions): Route {
  return defineRoute({
    method: "post",
    path: "/invitations/{id}/accept",
    id: "acceptInvitation",
    tag: "Workspace",
    summary: "Accept an invitation: the caller becomes a member",
    description: "A membership that the caller has already stays as it is.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    responses: {
      200: { description: "Accepted", schema: acceptedSchema, example: { session_id: undefined } },
    },
    errors: ["not_found"],
    async handle({ principal, params }) {
      const caller = requireUser(principal);
      const taken = isId(params.id) ? await store.accept(params.id, caller.id) : undefined;
      if (taken === undefined) throw unknownInvitation();
      const { workspaceId, sessionId } = taken;
      const place =
        sessionId === undefined ? { workspace_id: workspaceId } : { session_id: sessionId };
      return { status: 200, body: { success: true, message: "You are a member now.", ...place } };
    },
  });
}

function decline({ store }: OwnInvitationOptions): Route {
  return defineRoute({
    method: "post",
    path: "/invitations/{id}/decline",
    id: "declineInvitation",
    tag: "Workspace",
    summary: "Decline an invitation; whoever made it is not told",
    description:
      "For the caller it is gone, and unknown (404) from then on; in the list of whoever made it it stays until it is withdrawn or 14 days old.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    responses: { 200: acknowledged(DECLINED) },
    errors: ["not_found"],
    async handle({ principal, params }) {
      const caller = requireUser(principal);
      if (!isId(params.id) || !(await store.decline(params.id, caller.id))) {
        throw unknownInvitation();
      }
      return acknowledge(DECLINED);
    },
  });
}
