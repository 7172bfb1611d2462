import {
  type CommonQueryMethods,
  type DatabasePool,
  type FragmentSqlToken as Fragment,
  sql,
} from "slonik";
import { z } from "zod";
import { GUEST_ACCESS, type GuestAccess, type SessionFacts } from "../../access/policy.ts";
import type { Principal, Role } from "../../access/principal.ts";
import { LookupBatcher } from "../../base/lookup-batcher.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import {
  FAILURE_REASONS,
  type FailureReason,
  NOTE_TEMPLATES,
  type NoteTemplateId,
  type SessionPhase,
  type StopReason,
} from "../../session/status.ts";
import { recordElevatedRead } from "../../tenancy/audit/elevation-store.ts";
import { COMPAT_INTERFACES, type CompatInterface } from "../../wire/session-record.ts";
import { orTaken } from "./external-ids-store.ts";
import { type FactsKey, readManyFacts } from "./session-facts-store.ts";
import {
  readMerges,
  readSpeakers,
  type SpeakerMerge,
  type SpeakerRecord,
} from "./speakers-store.ts";

/** The data of a session besides its words. Times are Unix milliseconds. */
export interface SessionRecord {
  id: string;
  workspaceId: string;
  ownerId: string;
  deviceId?: string;
  jobId: string;
  title: string;
  /** What a program keeps with it. */
  externalId?: string;
  metadata: Record<string, string>;
  tags: string[];
  language: string;
  /** Why no engine may read that language; undefined once one has begun. */
  languageWarning?: string;
  /** The engine of its newest reading; undefined before the first. */
  engine?: string;
  /** True when that engine is not local. */
  soundLeaves: boolean;
  /** Whose client made it, if another service's did. */
  compat?: CompatInterface;
  /** How many channels of its sound are one speaker each; absent where they are mixed. */
  speakerChannels?: number;
  /** Length of the sound; undefined until it was read to its end. */
  durationMs?: number;
  status: SessionPhase;
  visibility: "private" | "workspace";
  /** As it holds now, wherever it was settled. */
  guestAccess: GuestAccess;
  workshopId?: string;
  /** By which its notes are arranged; absent: as its workspace says. */
  notesTemplate?: NoteTemplateId;
  startedAt: number;
  stoppedAt?: number;
  /** Set when the service stopped the session by itself. */
  stopReason?: StopReason;
  /** Set when it failed, but for sessions that an earlier release ended. */
  failureReason?: FailureReason;
  completedAt?: number;
  createdAt: number;
}

const nothing = z.object({}).strict();

export const sessionRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  ownerId: z.string(),
  deviceId: optionalColumn(z.string()),
  jobId: z.string(),
  title: z.string(),
  externalId: optionalColumn(z.string()),
  metadata: z.record(z.string()),
  tags: z.array(z.string()),
  language: z.string(),
  languageWarning: optionalColumn(z.string()),
  engine: optionalColumn(z.string()),
  soundLeaves: z.boolean(),
  compat: optionalColumn(z.enum(COMPAT_INTERFACES)),
  speakerChannels: optionalColumn(z.number()),
  durationMs: optionalColumn(z.number()),
  status: z.enum(["recording", "processing", "completed", "failed", "deleted"]),
  visibility: z.enum(["private", "workspace"]),
  guestAccess: z.enum(GUEST_ACCESS),
  workshopId: optionalColumn(z.string()),
  notesTemplate: optionalColumn(z.enum(NOTE_TEMPLATES)),
  startedAt: z.number(),
  stoppedAt: optionalColumn(z.number()),
  stopReason: optionalColumn(z.enum(["device_silent", "not_audio"])),
  failureReason: optionalColumn(z.enum(FAILURE_REASONS)),
  completedAt: optionalColumn(z.number()),
  createdAt: z.number(),
});

/** SQL for the warning that no engine may read the language of `sessions s`, until one begins. */
export const LANGUAGE_WARNING = sql.fragment`
  case when (select j.engine from jobs j where j.id = s.job_id) is null
    then s.language_warning end`;

/** Columns of `sessionRow`, from `sessions s`. */
export const SESSION_COLUMNS = sql.fragment`
  s.id,
  s.workspace_id as "workspaceId",
  s.owner_id as "ownerId",
  s.device_id as "deviceId",
  s.job_id as "jobId",
  s.title,
  s.external_id as "externalId",
  s.metadata,
  s.tags,
  s.language,
  ${LANGUAGE_WARNING} as "languageWarning",
  (select j.engine from jobs j where j.id = s.job_id) as engine,
  coalesce((select j.sound_leaves from jobs j where j.id = s.job_id), false) as "soundLeaves",
  s.compat,
  (select j.duration_ms from jobs j where j.id = s.job_id) as "durationMs",
  s.speaker_channels as "speakerChannels",
  s.status,
  s.visibility,
  guest_access_of(s.guest_access, s.workspace_id) as "guestAccess",
  s.workshop_id as "workshopId",
  s.notes_template as "notesTemplate",
  s.started_at as "startedAt",
  s.stopped_at as "stoppedAt",
  s.stop_reason as "stopReason",
  s.failure_reason as "failureReason",
  s.completed_at as "completedAt",
  s.created_at as "createdAt"
`;

/** Sessions in PostgreSQL, for readers. Every method throws `unavailable` when storage is away. */
export class SessionStore {
  readonly #pool: DatabasePool;
  readonly #facts: LookupBatcher<FactsKey, SessionFacts>;
  readonly #records: LookupBatcher<string, SessionRecord>;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#facts = new LookupBatcher((keys) => readManyFacts(pool, keys));
    this.#records = new LookupBatcher((ids) => readRecords(pool, ids));
  }

  /**
   * The caller's relations to a session, for `maySession`; undefined when there is no such session.
   */
  facts(principal: Principal, sessionId: string): Promise<SessionFacts | undefined> {
    return this.#facts.get({ principal, sessionId });
  }

  /** Records that content was read under an elevation; resolves when the entry is durable. */
  recordContentRead(principal: Principal, sessionId: string, action: string): Promise<void> {
    return recordElevatedRead(this.#pool, principal, sessionId, action);
  }

  get(sessionId: string): Promise<SessionRecord | undefined> {
    return this.#records.get(sessionId);
  }

  /** The id of the session that has this external id in the workspace. */
  async byExternalId(workspaceId: string, externalId: string): Promise<string | undefined> {
    const row = await this.#pool.maybeOne(sql.type(z.object({ id: z.string() }))`
      select id from sessions
      where workspace_id = ${workspaceId} and external_id = ${externalId}`);
    return row?.id;
  }

  /** Speakers by label number; unknown (`UU`) is last. */
  speakers(sessionId: string): Promise<SpeakerRecord[]> {
    return readSpeakers(this.#pool, sessionId);
  }

  /** The merges of its labels that can be taken back. */
  merges(sessionId: string): Promise<readonly SpeakerMerge[]> {
    return readMerges(this.#pool, sessionId);
  }

  /**
   * True for a guest of this session whose access is valid, and for an enabled user whom the caller
   * knows: both belong to one workspace, or the user has a tie to the session. Administrators know
   * everybody, as they list all users.
   */
  isAssignable({ id: callerId }: Principal, sessionId: string, userId: string): Promise<boolean> {
    return this.#pool.exists(sql.type(nothing)`
      select 1 from users u
      where u.id = ${userId} and u.disabled_at is null and (
        exists (select from users c where c.id = ${callerId} and c.role = 'admin')
        or exists (
          select from workspace_members a join workspace_members b using (workspace_id)
          where a.user_id = ${callerId} and b.user_id = u.id)
        or exists (select from sessions s where s.id = ${sessionId} and ${nativeTo(userId)}))
      union all
      select 1 from guests
      where id = ${userId} and session_id = ${sessionId} and revoked_at is null
    `);
  }
}

async function readRecords(
  pool: DatabasePool,
  ids: readonly string[],
): Promise<(SessionRecord | undefined)[]> {
  const rows = await pool.any(sql.type(sessionRow)`
    select ${SESSION_COLUMNS} from sessions s where s.id = any(${sql.array([...ids], "uuid")})
  `);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id));
}

/** What ties a person to a session, as `session_relations` names it. */
type Tie = "owner" | "member" | "shared" | "moderator";

/** What gives a person native access. */
const NATIVE: readonly Tie[] = ["owner", "member", "shared"];

/** `maySession(…, "session.read", …)` as an SQL condition over many rows of `sessions s`. */
export function visibleTo(principal: Principal): Fragment {
  const { id } = principal;
  if (principal.kind !== "user") {
    return sql.fragment`exists (
      select from session_readers r where r.session_id = s.id and r.reader_id = ${id}
        and r.relation in ('guest', 'service_key'))`;
  }
  if (principal.role === "admin") return sql.fragment`true`;
  return tiedTo(id, [...NATIVE, "moderator"], principal.role);
}

/** SQL condition: the user has native access to session `s`. */
export function nativeTo(userId: string): Fragment {
  return tiedTo(userId, NATIVE);
}

/** SQL condition: session `s` is there, and one of these ties the user in this role to it. */
export function tiedTo(userId: string, ties: readonly Tie[], role?: Role): Fragment {
  return sql.fragment`(s.status <> 'deleted' and exists (
    select from session_relations(
      s.id, s.owner_id, s.workspace_id, s.visibility = 'workspace', ${userId}, ${role ?? null}) r
    where r.relation = any(${sql.array([...ties], "text")})))`;
}

/**
 * Changes what a session's owner decides. Guests whom the new guest access would not have let in are
 * ended by a trigger.
 */
export class SessionEditStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** False, and nothing is changed, when the session no longer matches `expected`. */
  change(sessionId: string, change: SessionChange, expected?: KnownSession): Promise<boolean> {
    const { title, visibility, guestAccess, workshopId, externalId, metadata, tags } = change;
    const template =
      change.notesTemplate === undefined
        ? sql.fragment`notes_template`
        : sql.fragment`${change.notesTemplate}::text`;
    const workshop =
      workshopId === undefined ? sql.fragment`workshop_id` : sql.fragment`${workshopId}::uuid`;
    const access =
      guestAccess === undefined ? sql.fragment`guest_access` : sql.fragment`${guestAccess}::text`;
    const external =
      externalId === undefined ? sql.fragment`external_id` : sql.fragment`${externalId}::text`;
    const work = this.#pool.transaction(async (tx) => {
      const changed = await tx.maybeOne(sql.type(z.object({ id: z.string() }))`
        update sessions
        set title = coalesce(${title ?? null}, title),
            external_id = ${external},
            metadata = coalesce(${metadata === undefined ? null : JSON.stringify(metadata)}::jsonb, metadata),
            tags = coalesce(${tags === undefined ? null : sql.array([...tags], "text")}, tags),
            visibility = coalesce(${visibility ?? null}, visibility),
            guest_access = ${access},
            workshop_id = ${workshop},
            notes_template = ${template},
            updated_at = now()
        where id = ${sessionId} and status <> 'deleted' and ${isAs(expected)}
        returning id`);
      return changed !== null;
    });
    return orTaken(work);
  }
}

function isAs(expected: KnownSession | undefined) {
  if (expected === undefined) return sql.fragment`true`;
  const { title, visibility, guestAccess, workshopId, externalId, metadata, tags } = expected;
  return sql.fragment`
    (title, visibility, guest_access_of(guest_access, workspace_id))
      = (${title}, ${visibility}, ${guestAccess})
    and workshop_id is not distinct from ${workshopId}::uuid
    and external_id is not distinct from ${externalId}::text
    and notes_template is not distinct from ${expected.notesTemplate}::text
    and metadata = ${JSON.stringify(metadata)}::jsonb and tags = ${sql.array([...tags], "text")}`;
}

/**
 * SQL for the kind of the audit entry of a session's deletion, or null; `sessionId` is a column.
 */
export function deletionKindOf(sessionId: Fragment): Fragment {
  return sql.fragment`(
    select a.kind from audit_log a
    where a.session_id = ${sessionId} and a.kind in (
      'session_deleted_by_owner', 'session_deleted_by_admin',
      'account_erasure_session_redacted', 'retention_session_redacted')
    order by a.seq desc limit 1)`;
}

interface SessionChange {
  title?: string | undefined;
  visibility?: "private" | "workspace" | undefined;
  /** Null: as the workspace says. */
  guestAccess?: GuestAccess | null | undefined;
  /** Null removes the link. */
  workshopId?: string | null | undefined;
  /** Null: as the workspace says. */
  notesTemplate?: NoteTemplateId | null | undefined;
  /** Null: none. */
  externalId?: string | null | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  tags?: readonly string[] | undefined;
}

/** What a caller knows of a session that they change. */
interface KnownSession {
  title: string;
  visibility: "private" | "workspace";
  guestAccess: GuestAccess;
  workshopId: string | null;
  notesTemplate: NoteTemplateId | null;
  externalId: string | null;
  metadata: Readonly<Record<string, string>>;
  tags: readonly string[];
}

/** Marks a session as deleted. The new epoch makes activations fail that still hold the old one. */
export async function markDeleted(
  tx: CommonQueryMethods,
  { id, epoch, seq }: { id: string; epoch: number; seq: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    update sessions
    set status = 'deleted', title = '', external_id = null, metadata = '{}'::jsonb, tags = '{}',
        vocabulary = '[]'::jsonb, epoch = ${epoch}, seq = ${seq},
        has_work = false, stopped_at = coalesce(stopped_at, now()), updated_at = now()
    where id = ${id}`);
}
