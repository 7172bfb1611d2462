import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import {
  type ElevationInForce,
  elevationDetail,
  type OwnerNotices,
} from "../../access/elevation.ts";
import type { Principal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import type { ElevationStore } from "../../tenancy/audit/elevation-store.ts";
import {
  type Invitations,
  invitedSchema,
  inviteeOf,
  inviteeSchema,
} from "../../tenancy/workspaces/invitations/invitations.ts";
import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import { requireSession, type SessionGrant } from "./access.ts";
import type { SessionMemberRecord, SessionMemberStore } from "./members-store.ts";
import { sessionParams } from "./schema.ts";
import type { SessionStore } from "./store.ts";

const REMOVED = "They no longer have access to the session.";

export interface SessionMemberOptions {
  directory: SessionStore;
  members: SessionMemberStore;
  workspaces: Pick<WorkspaceStore, "role" | "share">;
  invitations: Pick<Invitations, "invite">;
  revocations: Pick<RevocationFeed, "publish">;
  elevations: Pick<ElevationStore, "inForce">;
  notices: OwnerNotices;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/** GET and POST /sessions/{id}/members, DELETE /sessions/{id}/members/{user_id}. */
export function sessionMemberRoutes(options: SessionMemberOptions): Route[] {
  return [listMembers(options), addMember(options), removeMember(options)];
}

const grantedRelation = Type.Union([Type.Literal("participant"), Type.Literal("shared")], {
  description: "`participant`: took part in the conversation. `shared`: may follow and read it.",
});

const memberSchema = Type.Object(
  {
    user_id: Type.String(),
    email: Type.Optional(Type.String({ description: "Absent for guests" })),
    name: Type.String({ examples: ["Anna Brown"] }),
    relation: Type.Union(
      (["owner", "participant", "shared", "guest"] as const).map((relation) =>
        Type.Literal(relation),
      ),
      { description: "How they belong to the session" },
    ),
    created_at: timestamp,
  },
  { $id: "SessionMember" },
);

function presentMember(member: SessionMemberRecord): Static<typeof memberSchema> {
  return {
    user_id: member.userId,
    email: member.email,
    name: member.name,
    relation: member.relation,
    created_at: toTimestamp(member.createdAt),
  };
}

function listMembers({ directory, members, cursorKey }: SessionMemberOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/members",
    id: "listSessionMembers",
    tag: "Session",
    summary: "The people of a session, its owner and its guests among them",
    description:
      "Those with a relation of their own, and the guests who have access now: their `user_id` is the guest's id, their name what they call themselves. With the visibility `workspace` the members of its workspace may read it too.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    query: Type.Object(pageQuery),
    responses: { 200: { description: "A page", schema: pageSchema(memberSchema) } },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.read"),
    async handle({ query }, { facts }: SessionGrant) {
      const list = `session-members\u0000${facts.id}`;
      const found = await members.list(facts.id, toPageRequest(cursorKey, list, query));
      return { status: 200, body: toPageBody(cursorKey, list, found, presentMember) };
    },
  });
}

/**
 * The elevation under which the caller gives access; undefined for the owner and for service keys,
 * who give by their own right.
 */
async function grantingElevation(
  elevations: Pick<ElevationStore, "inForce">,
  { principal, facts }: SessionGrant,
): Promise<ElevationInForce | undefined> {
  if (principal.kind !== "user" || facts.relation === "owner") return undefined;
  const place = { sessionId: facts.id, workspaceId: facts.workspaceId };
  const elevation = await elevations.inForce(principal.id, place);
  if (elevation !== undefined) return elevation;
  throw new AppError("elevation_required", "The content elevation has ended.");
}

function addMember(options: SessionMemberOptions): Route {
  const { directory, workspaces, invitations, elevations } = options;
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/members",
    id: "addSessionMember",
    tag: "Session",
    summary: "Give a colleague access to a session, or invite somebody by id or e-mail address",
    description:
      "Whoever belongs to a workspace of the caller's gets access at once by their id (201). Everybody else, and every address, known or not, is invited (202): they get it when they accept, within 14 days. By the session's owner, a service key with `sessions:share`, or an administrator under an elevation, of which the owner is told. `relation` is `shared` by default.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    body: {
      kind: "json",
      schema: Type.Object(
        {
          ...inviteeSchema,
          relation: Type.Optional(grantedRelation),
        },
        { examples: [{ email: "anna@example.org", relation: "participant" }] },
      ),
    },
    responses: {
      201: { description: "The member", schema: memberSchema },
      202: { description: "Invited", schema: invitedSchema },
    },
    errors: ["conflict", "elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.give"),
    async handle({ body }, grant: SessionGrant) {
      const { principal, facts } = grant;
      const to = inviteeOf(body);
      const isOneself = "userId" in to && to.userId === principal.id;
      if (isOneself && facts.relation !== "owner") {
        throw new AppError("forbidden", "No administrator gives himself access to a session.");
      }
      const elevation = await grantingElevation(elevations, grant);
      const role = body.relation ?? "shared";
      if ("userId" in to && (await isKnown(workspaces, principal, to.userId))) {
        const member = await addKnown(options, grant, { userId: to.userId, role, elevation });
        notifyOwner(options, grant, elevation);
        return { status: 201, body: presentMember(member) };
      }
      const place = { workspaceId: facts.workspaceId, sessionId: facts.id };
      const invited = await invitations.invite({ by: principal, elevation, place, role, to });
      notifyOwner(options, grant, elevation);
      return { status: 202, body: invited };
    },
  });
}

/** True for somebody whom the caller shares a workspace with: whom a key's workspace has, for it. */
async function isKnown(
  workspaces: SessionMemberOptions["workspaces"],
  principal: Principal,
  userId: string,
): Promise<boolean> {
  if (principal.kind !== "service") return workspaces.share(principal.id, userId);
  return (await workspaces.role(principal.workspaceId, userId)) !== undefined;
}

interface Given {
  userId: string;
  role: "participant" | "shared";
  elevation: ElevationInForce | undefined;
}

/** Throws 409 when the user has access already. */
async function addKnown(
  { members }: SessionMemberOptions,
  { principal, facts }: SessionGrant,
  { userId, role: relation, elevation }: Given,
): Promise<SessionMemberRecord> {
  const added = await members.add(
    { sessionId: facts.id, userId, relation },
    {
      kind: "session_member_added",
      actor: actorOf(principal),
      workspaceId: facts.workspaceId,
      sessionId: facts.id,
      subjectId: userId,
      detail: { relation, ...elevationDetail(elevation) },
    },
  );
  if ("member" in added) return added.member;
  throw new AppError(
    "conflict",
    added.already === "owner"
      ? "The session belongs to this user."
      : `The user has access to this session already, as ${added.already}.`,
  );
}

function notifyOwner(
  { notices }: SessionMemberOptions,
  { principal, facts }: SessionGrant,
  elevation: ElevationInForce | undefined,
): void {
  if (elevation === undefined) return;
  notices.notify({ adminId: principal.id, elevation, of: { sessionId: facts.id } });
}

function removeMember({ directory, members, revocations }: SessionMemberOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/sessions/{session_id}/members/{user_id}",
    id: "removeSessionMember",
    tag: "Session",
    summary: "Take the access of a user or guest to a session back",
    description:
      "By the session's owner, a service key with `sessions:share`, or an administrator. The live connections of whoever it was close within 5 s. A guest (`user_id` is the guest's id) may also be taken out by a moderator of its workspace; what they claimed stays, with `guest_removed` in the list of speakers. While the session's `guest_access` is `open`, a guest who knows its id may come in anew.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({ session_id: Type.String(), user_id: Type.String() }),
    responses: { 200: acknowledged(REMOVED) },
    async resolve({ principal, params }) {
      const { session_id: sessionId, user_id: userId } = params;
      const isGuest = isId(sessionId) && isId(userId) && (await members.isGuest(sessionId, userId));
      const moderates = principal?.kind === "user" && principal.role === "moderator";
      const action = isGuest && moderates ? "session.guests" : "session.take_back";
      return { ...(await requireSession(directory, principal, sessionId, action)), isGuest };
    },
    async handle({ params }, { principal, facts, isGuest }: SessionGrant & { isGuest: boolean }) {
      const { user_id: userId } = params;
      const removed =
        isId(userId) &&
        (await members.remove(facts.id, userId, isGuest, {
          kind: "session_member_removed",
          actor: actorOf(principal),
          workspaceId: facts.workspaceId,
          sessionId: facts.id,
          subjectId: userId,
          detail: isGuest ? { relation: "guest" } : {},
        }));
      if (!removed) throw new AppError("not_found", "Nobody with this id is in this session.");
      revocations.publish(
        isGuest
          ? { kind: "guest", guestId: userId }
          : { kind: "session_member", sessionId: facts.id, userId },
      );
      return acknowledge(REMOVED);
    },
  });
}
