import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../../access/audit-entry.ts";
import type { Principal } from "../../../access/principal.ts";
import { toTimestamp } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { isId } from "../../../base/ids.ts";
import { requirePrincipal } from "../../../rest/callers.ts";
import { exampleOf } from "../../../rest/examples.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  type Credential,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../../rest/route.ts";
import { timestamp } from "../../../rest/schemas.ts";
import { invitedRole } from "./routes.ts";
import type { InvitationScope, InvitationStore, PendingInvitation } from "./store.ts";

const WITHDRAWN = "The invitation is withdrawn.";

/** The invitations of a workspace or session, for those who may take membership there back. */
export interface ScopedInvitationOptions {
  kind: "Workspace" | "Session";
  /** The name of the path's parameter, which is the place's id. */
  parameter: "id" | "session_id";
  auth: readonly Credential[];
  store: Pick<InvitationStore, "pending" | "withdraw">;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
  /** Returns the place if the caller may take membership there back. Throws 404 or 403. */
  find(principal: Principal | undefined, id: string): Promise<InvitationScope>;
}

/** GET /workspaces/{id}/invitations, DELETE /workspaces/{id}/invitations/{invitation_id}, and so for sessions. */
export function scopedInvitationRoutes(options: ScopedInvitationOptions): Route[] {
  return [listPending(options), withdraw(options)];
}

const pendingSchema = Type.Object(
  {
    id: Type.String(),
    to_email: Type.Optional(Type.String()),
    to_user_id: Type.Optional(Type.String()),
    role: invitedRole,
    invited_by: Type.String({ description: "The id of the user whose right it is" }),
    created_at: timestamp,
    expires_at: Type.Unsafe<string>({ ...timestamp, examples: ["2026-02-14T09:30:00.000Z"] }),
  },
  { $id: "PendingInvitation" },
);

function presentPending(invitation: PendingInvitation): Static<typeof pendingSchema> {
  return {
    id: invitation.id,
    to_email: invitation.address,
    to_user_id: invitation.userId,
    role: invitation.role,
    invited_by: invitation.inviterId,
    created_at: toTimestamp(invitation.createdAt),
    expires_at: toTimestamp(invitation.expiresAt),
  };
}

function pathOf({ kind, parameter }: ScopedInvitationOptions): string {
  return `/${kind.toLowerCase()}s/{${parameter}}/invitations`;
}

function listPending(options: ScopedInvitationOptions): Route {
  const { kind, parameter, auth, store, cursorKey, find } = options;
  return defineRoute({
    method: "get",
    path: pathOf(options),
    id: `list${kind}Invitations`,
    tag: kind,
    summary: `The pending invitations of a ${kind.toLowerCase()}, newest first`,
    description:
      "What was written into each. Whether there is such an account, or whether it declined, is not told: an invitation stays in this list until it is accepted, withdrawn or 14 days old.",
    auth,
    roles: HUMAN_ROLES,
    params: Type.Object({ [parameter]: Type.String() }),
    query: Type.Object(pageQuery),
    responses: {
      200: {
        description: "A page",
        schema: pageSchema(pendingSchema),
        example: {
          items: [
            exampleOf(pendingSchema, "", { role: kind === "Session" ? "participant" : "member" }),
          ],
        },
      },
    },
    resolve: ({ principal, params }) => find(principal, params[parameter] ?? ""),
    async handle({ query }, place: InvitationScope) {
      const list = `invitations\u0000${place.sessionId ?? place.workspaceId}`;
      const found = await store.pending(place, toPageRequest(cursorKey, list, query));
      return { status: 200, body: toPageBody(cursorKey, list, found, presentPending) };
    },
  });
}

function withdraw(options: ScopedInvitationOptions): Route {
  const { kind, parameter, auth, store, find } = options;
  return defineRoute({
    method: "delete",
    path: `${pathOf(options)}/{invitation_id}`,
    id: `withdraw${kind}Invitation`,
    tag: kind,
    summary: "Withdraw an invitation before it is accepted",
    auth,
    roles: HUMAN_ROLES,
    params: Type.Object({ [parameter]: Type.String(), invitation_id: Type.String() }),
    responses: { 200: acknowledged(WITHDRAWN) },
    resolve: ({ principal, params }) => find(principal, params[parameter] ?? ""),
    async handle({ principal, params }, place: InvitationScope) {
      const id = params.invitation_id ?? "";
      const actor = actorOf(requirePrincipal(principal));
      const entry = { kind: "invitation_withdrawn", actor, ...place, subjectId: id } as const;
      if (!isId(id) || !(await store.withdraw(id, place, entry))) {
        throw new AppError("not_found", "There is no pending invitation with this id here.");
      }
      return acknowledge(WITHDRAWN);
    },
  });
}
