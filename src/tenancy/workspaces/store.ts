import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor } from "../../access/audit-entry.ts";
import { GUEST_ACCESS, type GuestAccess } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import { type Ceilings, NO_CEILINGS, type WorkspaceUse } from "../../postgres/ceilings.ts";
import { allOf, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import { NOTE_TEMPLATES, type NoteTemplateId } from "../../session/status.ts";
import type { TenancyEffects } from "../context.ts";
import { dropInvitationsInto } from "./invitations/store.ts";

export type WorkspaceRole = "owner" | "member";

export interface WorkspaceRecord {
  id: string;
  name: string;
  workspaceType: "private" | "team";
  preferredLanguage: string;
  /** Words and phrases that are expected in all of its sessions. */
  vocabulary: string[];
  /** Days after which the words and audio of a session are deleted; absent means never. */
  retentionDays?: number;
  /** How guests get into its sessions that do not say so themselves; absent: as the installation says. */
  defaultGuestAccess?: GuestAccess;
  /** The engine that reads its sessions, where these name none. */
  speechEngine?: string;
  /** Whether engines are allowed to which the sound leaves the installation. */
  remoteEngines: boolean;
  /** Whether a language model is allowed to which the text leaves the installation. */
  remoteText: boolean;
  /** Whether sessions get notes without being asked for. */
  automaticNotes: boolean;
  /** By which their notes are arranged, where they name no other. */
  notesTemplate: NoteTemplateId;
  createdAt: number;
  updatedAt: number;
}

export interface MemberRecord {
  userId: string;
  email: string;
  name: string;
  role: WorkspaceRole;
  createdAt: number;
}

interface NewWorkspace {
  id: string;
  name: string;
  preferredLanguage: string;
  vocabulary?: readonly string[] | undefined;
  ownerId: string;
}

export type MemberChange = "done" | "not_a_member" | "last_owner";

const idRow = z.object({ id: z.string() });
const nothing = z.object({}).strict();

/** Who gives a right, and what the audit entry tells besides. */
export interface Grantor {
  by: AuditActor;
  detail?: Record<string, string> | undefined;
}

/** Members of a workspace of which each change is an audit entry. */
const AUDITED = [
  ["retention_changed", "retentionDays"],
  ["guest_access_changed", "defaultGuestAccess"],
  ["remote_engines_changed", "remoteEngines"],
  ["remote_text_changed", "remoteText"],
] as const;

/** Changes and deletes workspaces, each in one transaction with its audit entry. */
export class WorkspaceEditStore {
  readonly #pool: DatabasePool;
  readonly #others: Pick<TenancyEffects, "unpairDevices" | "workspaceEndings">;

  constructor(
    pool: DatabasePool,
    others: Pick<TenancyEffects, "unpairDevices" | "workspaceEndings">,
  ) {
    this.#pool = pool;
    this.#others = others;
  }

  /**
   * Undefined, and nothing is changed, when the workspace was deleted, or changed after `since`.
   */
  change(
    id: string,
    change: WorkspaceChange,
    { by, detail: told }: Grantor,
    since?: number,
  ): Promise<WorkspaceRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      const before = await lockWorkspace(tx, id);
      if (before === undefined) return undefined;
      if (since !== undefined && Math.floor(before.updatedAt) !== since) return undefined;
      const after = await updateWorkspace(tx, id, change);
      for (const [kind, member] of AUDITED) {
        if (before[member] === after[member]) continue;
        const detail = { before: before[member] ?? "", after: after[member] ?? "", ...told };
        await insertAuditEntry(tx, { kind, actor: by, workspaceId: id, detail });
      }
      return after;
    });
  }

  /**
   * Deletes the workspace and ends its members' rights and its devices' keys. Throws `conflict`
   * while any of its sessions is not deleted.
   */
  remove(id: string, by: AuditActor): Promise<RemovedWorkspace> {
    return this.#pool.transaction(async (tx) => {
      // A session that starts meanwhile waits for this lock, and then finds no workspace.
      if ((await lockWorkspace(tx, id)) === undefined) {
        throw new AppError("not_found", "There is no workspace with this id.");
      }
      await assertNoSessions(tx, id);
      await tx.query(sql.unsafe`
        update workspaces set deleted_at = now(), updated_at = now() where id = ${id}`);
      await tx.query(sql.unsafe`delete from workshops where workspace_id = ${id}`);
      for (const end of this.#others.workspaceEndings) await end(tx, id);
      // Before the members: one that is being accepted just now becomes a member first, and goes too.
      await dropInvitationsInto(tx, id);
      const memberIds = await removeMembers(tx, id);
      const deviceIds = await this.#others.unpairDevices(tx, id);
      await insertAuditEntry(tx, {
        kind: "workspace_deleted",
        actor: by,
        workspaceId: id,
        subjectId: id,
        detail: { members: memberIds.length, devices: deviceIds.length },
      });
      return { memberIds, deviceIds };
    });
  }
}

async function lockWorkspace(
  tx: CommonQueryMethods,
  id: string,
): Promise<WorkspaceRecord | undefined> {
  const row = await tx.maybeOne(sql.type(workspaceRow)`
    select ${WORKSPACE_COLUMNS} from workspaces
    where id = ${id} and deleted_at is null for update`);
  return row ?? undefined;
}

async function updateWorkspace(
  tx: CommonQueryMethods,
  id: string,
  change: WorkspaceChange,
): Promise<WorkspaceRecord> {
  const { name, preferredLanguage, workspaceType, retentionDays, defaultGuestAccess } = change;
  const access =
    defaultGuestAccess === undefined
      ? sql.fragment`default_guest_access`
      : sql.fragment`${defaultGuestAccess}::text`;
  const retention =
    retentionDays === undefined
      ? sql.fragment`retention_days`
      : sql.fragment`${retentionDays}::integer`;
  const vocabulary = change.vocabulary === undefined ? null : JSON.stringify(change.vocabulary);
  const engine =
    change.speechEngine === undefined
      ? sql.fragment`speech_engine`
      : sql.fragment`${change.speechEngine}::text`;
  const row = await tx.one(sql.type(workspaceRow)`
    update workspaces
    set name = coalesce(${name ?? null}, name),
        preferred_language = coalesce(${preferredLanguage ?? null}, preferred_language),
        vocabulary = coalesce(${vocabulary}::jsonb, vocabulary),
        workspace_type = coalesce(${workspaceType ?? null}, workspace_type),
        retention_days = ${retention},
        default_guest_access = ${access},
        speech_engine = ${engine},
        remote_engines = coalesce(${change.remoteEngines ?? null}, remote_engines),
        remote_text = coalesce(${change.remoteText ?? null}, remote_text),
        automatic_notes = coalesce(${change.automaticNotes ?? null}, automatic_notes),
        notes_template = coalesce(${change.notesTemplate ?? null}, notes_template),
        updated_at = now()
    where id = ${id}
    returning ${WORKSPACE_COLUMNS}`);
  return row;
}

async function assertNoSessions(tx: CommonQueryMethods, workspaceId: string): Promise<void> {
  const left = await tx.exists(sql.type(nothing)`
    select from sessions where workspace_id = ${workspaceId} and status <> 'deleted'`);
  if (!left) return;
  throw new AppError("conflict", "The workspace still has sessions. Delete them first.");
}

async function removeMembers(tx: CommonQueryMethods, workspaceId: string): Promise<string[]> {
  const rows = await tx.any(sql.type(idRow)`
    delete from workspace_members where workspace_id = ${workspaceId} returning user_id as id`);
  return rows.map(({ id }) => id);
}

const roleColumn = z.enum(["owner", "member"]);

const workspaceRow = z.object({
  id: z.string(),
  name: z.string(),
  workspaceType: z.enum(["private", "team"]),
  preferredLanguage: z.string(),
  vocabulary: z.array(z.string()),
  retentionDays: optionalColumn(z.number()),
  defaultGuestAccess: optionalColumn(z.enum(GUEST_ACCESS)),
  speechEngine: optionalColumn(z.string()),
  remoteEngines: z.boolean(),
  remoteText: z.boolean(),
  automaticNotes: z.boolean(),
  notesTemplate: z.enum(NOTE_TEMPLATES),
  createdAt: z.number(),
  updatedAt: z.number(),
});

export const memberRow = z.object({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleColumn,
  createdAt: z.number(),
});

const WORKSPACE_COLUMNS = sql.fragment`id, name, workspace_type as "workspaceType",
  preferred_language as "preferredLanguage", retention_days as "retentionDays",
  default_guest_access as "defaultGuestAccess", vocabulary,
  speech_engine as "speechEngine", remote_engines as "remoteEngines",
  remote_text as "remoteText", automatic_notes as "automaticNotes", notes_template as "notesTemplate",
  created_at as "createdAt", updated_at as "updatedAt"`;
export const MEMBER_COLUMNS = sql.fragment`
  user_id as "userId", email, users.name, member.role, member.created_at as "createdAt"`;

/** Workspaces and their members in PostgreSQL; a deleted workspace is treated as unknown. */
export class WorkspaceStore {
  readonly #pool: DatabasePool;
  readonly #ceilings: Ceilings;

  constructor(pool: DatabasePool, ceilings = NO_CEILINGS) {
    this.#pool = pool;
    this.#ceilings = ceilings;
  }

  insert(workspace: NewWorkspace): Promise<WorkspaceRecord> {
    return this.#pool.transaction(async (transaction) => {
      await this.#ceilings.assertRoom(transaction, "workspaces_per_user", workspace.ownerId);
      const row = await transaction.one(sql.type(workspaceRow)`
        insert into workspaces (id, name, preferred_language, vocabulary, created_by)
        values (${workspace.id}, ${workspace.name}, ${workspace.preferredLanguage},
          ${JSON.stringify(workspace.vocabulary ?? [])}::jsonb, ${workspace.ownerId})
        returning ${WORKSPACE_COLUMNS}`);
      await transaction.query(sql.unsafe`
        insert into workspace_members (workspace_id, user_id, role)
        values (${workspace.id}, ${workspace.ownerId}, 'owner')`);
      return row;
    });
  }

  async find(id: string): Promise<WorkspaceRecord | undefined> {
    const row = await this.#pool.maybeOne(
      sql.type(workspaceRow)`select ${WORKSPACE_COLUMNS} from workspaces
        where id = ${id} and deleted_at is null`,
    );
    return row ?? undefined;
  }

  use(id: string): Promise<WorkspaceUse> {
    return this.#ceilings.workspaceUse(this.#pool, id);
  }

  /** Lists the workspaces that `memberId` belongs to, or all when it is undefined. */
  async list(memberId: string | undefined, page: PageRequest): Promise<Page<WorkspaceRecord>> {
    const conditions = [sql.fragment`deleted_at is null`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    if (memberId !== undefined) {
      conditions.push(sql.fragment`id in (
        select workspace_id from workspace_members where user_id = ${memberId})`);
    }
    const rows = await this.#pool.any(sql.type(workspaceRow)`
      select ${WORKSPACE_COLUMNS} from workspaces where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (workspace) => workspace.id);
  }

  async role(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined> {
    const row = await this.#pool.maybeOne(sql.type(z.object({ role: roleColumn }))`
      select role from workspace_members
      where workspace_id = ${workspaceId} and user_id = ${userId}`);
    return row?.role;
  }

  /** True when the two belong to one workspace, so that they know of each other. */
  share(userId: string, otherId: string): Promise<boolean> {
    return this.#pool.exists(sql.type(nothing)`
      select from workspace_members a join workspace_members b using (workspace_id)
      where a.user_id = ${userId} and b.user_id = ${otherId}`);
  }

  async members(workspaceId: string, page: PageRequest): Promise<Page<MemberRecord>> {
    const conditions = [sql.fragment`workspace_id = ${workspaceId}`];
    if (page.after !== undefined) conditions.push(sql.fragment`user_id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(memberRow)`
      select ${MEMBER_COLUMNS}
      from workspace_members as member join users on users.id = user_id
      where ${allOf(conditions)}
      order by user_id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (member) => member.userId);
  }
}

/** A change of a workspace; absent members stay as they are. */
export interface WorkspaceChange {
  name?: string | undefined;
  preferredLanguage?: string | undefined;
  vocabulary?: readonly string[] | undefined;
  workspaceType?: WorkspaceRecord["workspaceType"] | undefined;
  /** Null means that words and audio are kept until somebody deletes them. */
  retentionDays?: number | null | undefined;
  /** Null: as the installation says. Guests whom it would not have let in are ended. */
  defaultGuestAccess?: GuestAccess | null | undefined;
  /** Null: the installation's. */
  speechEngine?: string | null | undefined;
  remoteEngines?: boolean | undefined;
  remoteText?: boolean | undefined;
  automaticNotes?: boolean | undefined;
  notesTemplate?: NoteTemplateId | undefined;
}

/** Members and devices whose rights ended with a workspace. */
interface RemovedWorkspace {
  memberIds: string[];
  deviceIds: string[];
}
