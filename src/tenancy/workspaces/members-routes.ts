import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import {
  type ElevationInForce,
  elevationDetail,
  type OwnerNotices,
} from "../../access/elevation.ts";
import type { Principal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { suspendedSentence } from "../../access/suspended-credentials.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import type { UserStore } from "../accounts/users-store.ts";
import type { ElevationStore } from "../audit/elevation-store.ts";
import {
  type Invitations,
  invitedSchema,
  inviteeOf,
  inviteeSchema,
} from "./invitations/invitations.ts";
import type { WorkspaceMemberStore } from "./members-store.ts";
import { requireWorkspace } from "./routes.ts";
import type { MemberChange, MemberRecord, WorkspaceRecord, WorkspaceStore } from "./store.ts";

const CHANGED = "The member's role was changed.";
const REMOVED = "The user is no longer a member.";

export interface WorkspaceMemberOptions {
  workspaces: WorkspaceStore;
  members: WorkspaceMemberStore;
  invitations: Pick<Invitations, "invite">;
  revocations: RevocationFeed;
  users: Pick<UserStore, "suspended">;
  elevations: Pick<ElevationStore, "inForce">;
  notices: OwnerNotices;
  cursorKey: Uint8Array;
}

/** GET and POST /workspaces/{id}/members, PATCH and DELETE /workspaces/{id}/members/{user_id}. */
export function workspaceMemberRoutes(options: WorkspaceMemberOptions): Route[] {
  return [listMembers(options), addMember(options), changeRole(options), removeMember(options)];
}

const workspaceRoleSchema = Type.Union([Type.Literal("owner"), Type.Literal("member")], {
  $id: "WorkspaceRole",
});

const memberSchema = Type.Object(
  {
    user_id: Type.String(),
    email: Type.String(),
    name: Type.String({ examples: ["Anna Brown"] }),
    role: workspaceRoleSchema,
    created_at: Type.String(),
  },
  { $id: "WorkspaceMember" },
);

function presentMember(member: MemberRecord): Static<typeof memberSchema> {
  return {
    user_id: member.userId,
    email: member.email,
    name: member.name,
    role: member.role,
    created_at: toTimestamp(member.createdAt),
  };
}

function listMembers({ workspaces, cursorKey }: WorkspaceMemberOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}/members",
    id: "listWorkspaceMembers",
    tag: "Workspace",
    summary: "The people of a workspace",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    query: Type.Object(pageQuery),
    responses: { 200: { description: "A page", schema: pageSchema(memberSchema) } },
    resolve: ({ principal, params }) =>
      requireWorkspace(workspaces, principal, params.id, "workspace.read"),
    async handle({ query }, workspace: WorkspaceRecord) {
      const list = `members\u0000${workspace.id}`;
      const found = await workspaces.members(workspace.id, toPageRequest(cursorKey, list, query));
      return { status: 200, body: toPageBody(cursorKey, list, found, presentMember) };
    },
  });
}

/**
 * Checks that a caller may add themselves: an administrator who did so would read what members
 * read, without an elevation.
 */
async function requireSelfPromotion(
  workspaces: Pick<WorkspaceStore, "find" | "role">,
  principal: Principal | undefined,
  { id }: WorkspaceRecord,
): Promise<void> {
  await requireWorkspace(workspaces, principal, id, "workspace.promote_self");
}

/** A workspace and the elevation, if it takes one, under which the caller gives membership there. */
export interface Granting {
  workspace: WorkspaceRecord;
  elevation: ElevationInForce | undefined;
}

export interface GrantingOptions extends Pick<WorkspaceMemberOptions, "elevations"> {
  workspaces: Pick<WorkspaceStore, "find" | "role">;
}

/**
 * Checks that the caller may give others rights in the workspace: an owner, or an administrator under
 * an elevation. Throws 404 or 403.
 */
export async function requireGranting(
  { workspaces, elevations }: GrantingOptions,
  principal: Principal | undefined,
  id: string,
): Promise<Granting> {
  const caller = requireUser(principal);
  const isOwner = isId(id) && (await workspaces.role(id, caller.id)) === "owner";
  const elevation =
    caller.role === "admin" && isId(id) && !isOwner
      ? await elevations.inForce(caller.id, { workspaceId: id })
      : undefined;
  const elevated = elevation !== undefined;
  const workspace = await requireWorkspace(workspaces, caller, id, "workspace.give", elevated);
  return { workspace, elevation };
}

function addMember(options: WorkspaceMemberOptions): Route {
  const { workspaces, members, invitations } = options;
  return defineRoute({
    method: "post",
    path: "/workspaces/{id}/members",
    id: "addWorkspaceMember",
    tag: "Workspace",
    summary: "Add a colleague to a workspace, or invite somebody by id or e-mail address",
    description:
      "Whoever belongs to a workspace of the caller's is added at once by their id (201). Everybody else, and every address, known or not, is invited (202): they become a member when they accept, within 14 days. By an owner, or by an administrator under an elevation, of which the owners are told; but no administrator lets himself in: members read what is shared with the workspace, without an elevation.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    body: {
      kind: "json",
      schema: Type.Object(
        {
          ...inviteeSchema,
          role: Type.Optional(workspaceRoleSchema),
        },
        { examples: [{ user_id: exampleId("user_id"), role: "member" }] },
      ),
    },
    responses: {
      201: { description: "The member", schema: memberSchema },
      202: { description: "Invited", schema: invitedSchema },
    },
    errors: ["conflict", "elevation_required"],
    resolve: ({ principal, params }) => requireGranting(options, principal, params.id),
    async handle({ principal, body }, granting: Granting) {
      const caller = requireUser(principal);
      const { workspace, elevation } = granting;
      const to = inviteeOf(body);
      const role = body.role ?? "member";
      if ("userId" in to) {
        const { userId } = to;
        if (userId === caller.id) await requireSelfPromotion(workspaces, caller, workspace);
        if (await workspaces.share(caller.id, userId)) {
          const given = { by: actorOf(caller), detail: elevationDetail(elevation) };
          const member = await members.add(workspace.id, userId, role, given);
          if (member === undefined) {
            throw new AppError("conflict", "The user belongs to this workspace already.");
          }
          notifyOwners(options, caller.id, userId, granting);
          return { status: 201, body: presentMember(member) };
        }
      }
      const place = { workspaceId: workspace.id };
      const invited = await invitations.invite({ by: caller, elevation, place, role, to });
      notifyOwners(options, caller.id, undefined, granting);
      return { status: 202, body: invited };
    },
  });
}

function notifyOwners(
  { notices }: Pick<WorkspaceMemberOptions, "notices">,
  adminId: string,
  receiverId: string | undefined,
  { workspace, elevation }: Granting,
): void {
  if (elevation === undefined) return;
  notices.notify({ adminId, receiverId, elevation, of: { workspaceId: workspace.id } });
}

/** Throws 404 or 409 when the change was not made. */
function assertDone(outcome: MemberChange): void {
  if (outcome === "not_a_member") {
    throw new AppError("not_found", "The user does not belong to this workspace.");
  }
  if (outcome === "last_owner") {
    throw new AppError("conflict", "A workspace keeps at least one owner.");
  }
}

function changeRole(options: WorkspaceMemberOptions): Route {
  const { workspaces, members, revocations, users } = options;
  return defineRoute({
    method: "patch",
    path: "/workspaces/{id}/members/{user_id}",
    id: "changeWorkspaceRole",
    tag: "Workspace",
    summary: "Make a member an owner, or an owner a member",
    description: "By an owner, or by an administrator under an elevation.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String(), user_id: Type.String() }),
    body: { kind: "json", schema: Type.Object({ role: workspaceRoleSchema }) },
    responses: { 200: acknowledged(CHANGED) },
    errors: ["conflict", "elevation_required"],
    resolve: ({ principal, params }) => requireGranting(options, principal, params.id),
    async handle({ principal, params, body }, granting: Granting) {
      const { workspace, elevation } = granting;
      const { id: workspaceId } = workspace;
      const { user_id: userId } = params;
      if (userId === principal?.id) await requireSelfPromotion(workspaces, principal, workspace);
      const caller = requireUser(principal);
      const given = { by: actorOf(caller), detail: elevationDetail(elevation) };
      assertDone(
        isId(userId)
          ? await members.setRole(workspaceId, userId, body.role, given)
          : "not_a_member",
      );
      notifyOwners(options, caller.id, userId, granting);
      revocations.publish({ kind: "workspace_member", workspaceId, userId });
      const left = suspendedSentence(await users.suspended(userId, workspaceId));
      return acknowledge(`${CHANGED}${left}`);
    },
  });
}

function removeMember(options: WorkspaceMemberOptions): Route {
  const { workspaces, members, revocations, users } = options;
  return defineRoute({
    method: "delete",
    path: "/workspaces/{id}/members/{user_id}",
    id: "removeWorkspaceMember",
    tag: "Workspace",
    summary: "Remove a user from a workspace; members may remove themselves",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String(), user_id: Type.String() }),
    responses: { 200: acknowledged(REMOVED) },
    errors: ["conflict"],
    resolve: ({ principal, params }) =>
      requireWorkspace(
        workspaces,
        principal,
        params.id,
        principal?.id === params.user_id ? "workspace.read" : "workspace.edit",
      ),
    async handle({ principal, params }, workspace: WorkspaceRecord) {
      const { user_id: userId } = params;
      const by = actorOf(requireUser(principal));
      assertDone(isId(userId) ? await members.remove(workspace.id, userId, by) : "not_a_member");
      revocations.publish({ kind: "workspace_member", workspaceId: workspace.id, userId });
      const left = suspendedSentence(await users.suspended(userId, workspace.id));
      return acknowledge(`${REMOVED}${left}`);
    },
  });
}
