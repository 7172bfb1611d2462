import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../../access/audit-entries-store.ts";
import type { AuditEntry } from "../../../access/audit-entry.ts";
import type { Progress } from "../../../base/work/work-list.ts";
import { allOf, nameColumn, toInstant, toPage } from "../../../postgres/columns.ts";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../../rest/page.ts";
import type { TenancyEffects } from "../../context.ts";

/** Where somebody is invited to: a workspace, or a session of it. */
export interface InvitationScope {
  workspaceId: string;
  sessionId?: string | undefined;
}

export type InvitedRole = "owner" | "member" | "participant" | "shared";

/** Who is invited: whoever has this address of mail, or this user if there is one. */
export type Invitee = { address: string } | { userId: string };

interface NewInvitation {
  id: string;
  place: InvitationScope;
  role: InvitedRole;
  to: Invitee;
  inviterId: string;
  /** The service key or the elevation under which it was made. */
  keyId?: string | undefined;
  elevationId?: string | undefined;
  /** Unix milliseconds. */
  expiresAt: number;
  /** SHA-256 of the secret in its letter's link; undefined for an invitation to a user. */
  openingHash?: Uint8Array | undefined;
}

/** An invitation as whoever manages the place sees it: what was written into it, and no more. */
export interface PendingInvitation {
  id: string;
  role: InvitedRole;
  address?: string | undefined;
  userId?: string | undefined;
  inviterId: string;
  createdAt: number;
  expiresAt: number;
}

/** An invitation as the invited person sees it; of a session neither title nor id. */
export interface OwnInvitation {
  id: string;
  kind: "workspace" | "session";
  /** Absent for a session. */
  workspaceName?: string | undefined;
  role: InvitedRole;
  inviterName: string;
  createdAt: number;
  expiresAt: number;
}

const FORGET_BATCH = 1_000;

const roleColumn = z.enum(["owner", "member", "participant", "shared"]);

const pendingRow = z.object({
  id: z.string(),
  role: roleColumn,
  address: optionalColumn(z.string()),
  userId: optionalColumn(z.string()),
  inviterId: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
});

const ownRow = z.object({
  id: z.string(),
  kind: z.enum(["workspace", "session"]),
  workspaceName: optionalColumn(nameColumn),
  role: roleColumn,
  inviterName: nameColumn,
  createdAt: z.number(),
  expiresAt: z.number(),
});

const takenRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  sessionId: optionalColumn(z.string()),
  role: roleColumn,
  inviterId: z.string(),
});

const openedRow = z.object({ id: z.string(), address: z.string() });

type TakenInvitation = z.infer<typeof takenRow>;

const TAKEN = sql.fragment`i.id, i.workspace_id as "workspaceId", i.session_id as "sessionId",
  i.role, i.inviter_id as "inviterId"`;

/**
 * SQL condition: whoever made the invitation `i` may give what it offers now, as `mayWorkspace` and
 * `maySession` say of `workspace.give` and `session.give`.
 */
const INVITER_IS_ACTIVE = sql.fragment`exists (select from inviter_rights(i))`;

/** SQL condition: the place of the invitation `i` is still there. */
const SCOPE_IS_THERE = sql.fragment`
  exists (select from workspaces w where w.id = i.workspace_id and w.deleted_at is null)
  and (i.session_id is null or exists (
    select from sessions s where s.id = i.session_id and s.status <> 'deleted'))`;

/** SQL condition: the invitation `i` is to this user, and counts. Nobody invites themselves. */
function isFor(userId: string) {
  return sql.fragment`
    (i.invitee_id = ${userId} or i.address = (
      select verified_email from users
      where id = ${userId} and verified_email = email and erased_at is null))
    and i.inviter_id <> ${userId} and i.declined_at is null and i.expires_at > now()
    and ${SCOPE_IS_THERE} and ${INVITER_IS_ACTIVE}`;
}

function isOf({ workspaceId, sessionId }: InvitationScope) {
  return sessionId === undefined
    ? sql.fragment`i.workspace_id = ${workspaceId} and i.session_id is null`
    : sql.fragment`i.session_id = ${sessionId}`;
}

/** Invitations in PostgreSQL. Every method throws `unavailable` when storage is away. */
export class InvitationStore {
  readonly #pool: DatabasePool;
  readonly #others: Pick<TenancyEffects, "joinSession" | "joinWorkspace">;

  constructor(pool: DatabasePool, others: Pick<TenancyEffects, "joinSession" | "joinWorkspace">) {
    this.#pool = pool;
    this.#others = others;
  }

  /**
   * Writes an invitation with its audit entry; it replaces the one that the same inviter has sent to
   * the same person for this place. Nothing is looked up about that person.
   */
  put(invitation: NewInvitation, entry: AuditEntry): Promise<void> {
    const { id, place, role, to, inviterId, keyId, elevationId, expiresAt } = invitation;
    const address = "address" in to ? to.address : null;
    const inviteeId = "userId" in to ? to.userId : null;
    const { openingHash } = invitation;
    const hash = openingHash === undefined ? null : sql.binary(Buffer.from(openingHash));
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`
        insert into invitations (id, workspace_id, session_id, role, address, invitee_id,
          inviter_id, key_id, elevation_id, expires_at, opening_hash)
        values (${id}, ${place.workspaceId}, ${place.sessionId ?? null}, ${role}, ${address},
          ${inviteeId}, ${inviterId}, ${keyId ?? null}, ${elevationId ?? null},
          ${toInstant(expiresAt)}, ${hash})
        on conflict ((coalesce(session_id, workspace_id)), (coalesce(address, invitee_id::text)),
          inviter_id)
        do update set id = excluded.id, role = excluded.role, key_id = excluded.key_id,
          elevation_id = excluded.elevation_id, created_at = now(),
          expires_at = excluded.expires_at, opening_hash = excluded.opening_hash,
          declined_at = null`);
      await insertAuditEntry(tx, entry);
    });
  }

  /** The invitation whose letter has a link with the secret of this hash, while it counts. */
  async opened(openingHash: Uint8Array): Promise<{ id: string; address: string } | undefined> {
    const row = await this.#pool.maybeOne(sql.type(openedRow)`
      select i.id, i.address from invitations i
      where i.opening_hash = ${sql.binary(Buffer.from(openingHash))}
        and i.declined_at is null and i.expires_at > now()
        and ${SCOPE_IS_THERE} and ${INVITER_IS_ACTIVE}`);
    return row ?? undefined;
  }

  /** Those that this user may accept, newest first. */
  async own(userId: string, page: PageRequest): Promise<Page<OwnInvitation>> {
    const conditions = [isFor(userId)];
    if (page.after !== undefined) conditions.push(sql.fragment`i.id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(ownRow)`
      /* planned once */
      select i.id, case when i.session_id is null then 'workspace' else 'session' end as kind,
        case when i.session_id is null then w.name end as "workspaceName", i.role,
        inviter.name as "inviterName", i.created_at as "createdAt", i.expires_at as "expiresAt"
      from invitations i
      join workspaces w on w.id = i.workspace_id
      join users inviter on inviter.id = i.inviter_id
      where ${allOf(conditions)}
      order by i.id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, ({ id }) => id);
  }

  /** Those of a place whose time is not over, newest first: declined ones look like the others. */
  async pending(place: InvitationScope, page: PageRequest): Promise<Page<PendingInvitation>> {
    const conditions = [isOf(place), sql.fragment`i.expires_at > now()`];
    if (page.after !== undefined) conditions.push(sql.fragment`i.id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(pendingRow)`
      select i.id, i.role, i.address, i.invitee_id as "userId", i.inviter_id as "inviterId",
        i.created_at as "createdAt", i.expires_at as "expiresAt"
      from invitations i where ${allOf(conditions)}
      order by i.id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, ({ id }) => id);
  }

  /** Makes the user a member; undefined when there is no such invitation for them. */
  accept(id: string, userId: string): Promise<TakenInvitation | undefined> {
    return this.#pool.transaction(async (tx) => {
      const taken = await tx.maybeOne(sql.type(takenRow)`
        delete from invitations i where i.id = ${id} and ${isFor(userId)} returning ${TAKEN}`);
      if (taken === null) return undefined;
      const { workspaceId, sessionId, role } = taken;
      // An older membership stays as it is.
      const isNew = await (sessionId === undefined
        ? this.#others.joinWorkspace(tx, { workspaceId, userId, role })
        : this.#others.joinSession(tx, { sessionId, userId, relation: role }));
      const about = aboutOf(taken, userId);
      await insertAuditEntry(tx, { ...about, kind: "invitation_accepted" });
      if (isNew) {
        const inviter_id = taken.inviterId;
        const [kind, detail] =
          sessionId === undefined
            ? (["workspace_member_added", { role, inviter_id }] as const)
            : (["session_member_added", { relation: role, inviter_id }] as const);
        await insertAuditEntry(tx, { ...about, kind, subjectId: userId, detail });
      }
      return taken;
    });
  }

  /** False when there is no such invitation for this user. */
  decline(id: string, userId: string): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      const taken = await tx.maybeOne(sql.type(takenRow)`
        update invitations i set declined_at = now()
        where i.id = ${id} and ${isFor(userId)} returning ${TAKEN}`);
      if (taken === null) return false;
      await insertAuditEntry(tx, { ...aboutOf(taken, userId), kind: "invitation_declined" });
      return true;
    });
  }

  /** Withdraws a pending invitation of the place; false when there is none with this id. */
  withdraw(id: string, place: InvitationScope, entry: AuditEntry): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      const { rowCount } = await tx.query(sql.unsafe`
        delete from invitations i
        where i.id = ${id} and ${isOf(place)} and i.expires_at > now()`);
      if (rowCount === 0) return false;
      await insertAuditEntry(tx, entry);
      return true;
    });
  }

  /** Deletes those whose time is over; returns how many. */
  async forget(): Promise<Progress> {
    const { rowCount } = await this.#pool.query(sql.unsafe`
      delete from invitations where id in (
        select id from invitations where expires_at <= now() limit ${FORGET_BATCH})`);
    return { done: rowCount, more: rowCount === FORGET_BATCH };
  }
}

function aboutOf({ id, workspaceId, sessionId }: TakenInvitation, userId: string) {
  const actor = { kind: "user", id: userId } as const;
  return { actor, workspaceId, sessionId, subjectId: id };
}

/** Deletes invitations by and to an account that is erased. */
export async function eraseInvitations(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`
    delete from invitations
    where inviter_id = ${userId} or invitee_id = ${userId}
      or address in (
        select email from users where id = ${userId}
        union select verified_email from users where id = ${userId})`);
}

/** For whoever deletes a session. */
export async function dropInvitationsTo(
  tx: CommonQueryMethods,
  { id }: { id: string },
): Promise<void> {
  await tx.query(sql.unsafe`delete from invitations where session_id = ${id}`);
}

/** For whoever deletes a workspace. */
export async function dropInvitationsInto(
  tx: CommonQueryMethods,
  workspaceId: string,
): Promise<void> {
  await tx.query(sql.unsafe`delete from invitations where workspace_id = ${workspaceId}`);
}
