import {
  type CommonQueryMethods,
  type DatabasePool,
  type DatabaseTransactionConnection,
  sql,
} from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor } from "../../access/audit-entry.ts";
import { newId } from "../../base/ids.ts";
import { deleteSnapshots } from "../../postgres/session-snapshots.ts";
import type { SessionDeleted } from "../../session/event.ts";
import { deletionPlaceholder } from "../../session/redaction.ts";
import { eraseGraph } from "../graph/build-store.ts";
import { eraseMarks } from "../marks/store.ts";
import { forgetMadeOf } from "../sessions/forgotten-voices-store.ts";
import { enqueueWebhookEvent } from "../webhooks/queue-store.ts";
import { SESSION_ERASURES } from "./ledger/ledger-folder.ts";
import { noteErasure } from "./ledger/ledger-store.ts";

/**
 * Erases data that was derived from a session's words and would reveal them. Returns how many rows
 * of each kind were erased.
 */
export async function eraseDerived(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<Record<string, number>> {
  const { rowCount: summaries } = await connection.query(sql.unsafe`
    delete from summaries where session_id = ${sessionId}`);
  await connection.query(sql.unsafe`
    delete from action_item_edits where session_id = ${sessionId}`);
  return { summaries, graphs: await eraseGraph(connection, sessionId) };
}

const sessionRow = z.object({
  status: z.string(),
  workspaceId: z.string(),
  epoch: z.number(),
  seq: z.number(),
  tags: z.array(z.string()),
});

const receiptRow = z.object({
  id: z.string(),
  sessionId: z.string(),
  workspaceId: z.string(),
  kind: z.enum(SESSION_ERASURES),
  deletedAt: z.number(),
  removed: z.record(z.number()),
  audioErased: z.boolean(),
});

const countsRow = z.object({
  segments: z.number(),
  words: z.number(),
  audio_chunks: z.number(),
  audio_bytes: z.number(),
  speaker_claims: z.number(),
  guests: z.number(),
  concerns: z.number(),
});

const RECEIPT = sql.fragment`
  id, session_id as "sessionId", workspace_id as "workspaceId", kind,
  deleted_at as "deletedAt", removed, audio_erased_at is not null as "audioErased"`;

/** Nobody holds a session for long; a transaction that was forgotten shall not hold up others. */
const LOCK_TIMEOUT = "5s";

/** Deletes sessions in PostgreSQL. Throws `unavailable` where somebody holds the session. */
export class PostgresSessionDeletion implements DeletionRecords {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  erase(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletedRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
      // Every append and every chunk insert locks and checks this row.
      const session = await tx.maybeOne(sql.type(sessionRow)`
        select status, workspace_id as "workspaceId", epoch, seq, tags
        from sessions where id = ${sessionId} for update`);
      if (session === null) return undefined;
      if (session.status === "deleted") {
        const receipt = await readReceipt(tx, sessionId);
        return receipt === undefined ? undefined : { receipt };
      }
      return eraseSession(tx, sessionId, session, kind, actor);
    });
  }

  async audioErased(sessionId: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update deletion_receipts set audio_erased_at = coalesce(audio_erased_at, now())
      where session_id = ${sessionId}`);
  }

  async withAudioLeft(limit: number, except: readonly string[] = []): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(z.object({ id: z.string() }))`
      select session_id as id from deletion_receipts
      where audio_erased_at is null and session_id <> all(${sql.array(except, "uuid")})
      order by deleted_at limit ${limit}`);
    return rows.map(({ id }) => id);
  }
}

async function readReceipt(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<DeletionReceipt | undefined> {
  const row = await connection.maybeOne(sql.type(receiptRow)`
    select ${RECEIPT} from deletion_receipts where session_id = ${sessionId}`);
  return row ?? undefined;
}

async function eraseSession(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  session: z.output<typeof sessionRow>,
  kind: DeletionKind,
  actor: AuditActor,
): Promise<DeletedRecord> {
  const counts = await countContent(tx, sessionId);
  const derived = {
    ...(await eraseDerived(tx, sessionId)),
    marks: await eraseMarks(tx, sessionId),
  };
  await eraseWords(tx, sessionId, deletionPlaceholder(kind));
  await erasePeople(tx, sessionId);
  await endWork(tx, sessionId);
  const seq = session.seq + 1;
  const at = await markDeleted(tx, sessionId, session.epoch + 1, seq, kind);
  const { workspaceId, tags } = session;
  const id = newId();
  const removed = { ...counts, ...derived };
  await tx.query(sql.unsafe`
    insert into deletion_receipts (id, session_id, workspace_id, kind, removed)
    values (${id}, ${sessionId}, ${workspaceId}, ${kind}, ${JSON.stringify(removed)}::jsonb)`);
  const receipt = await readReceipt(tx, sessionId);
  if (receipt === undefined) throw new Error("The receipt was not written.");
  await noteErasure(tx, { id: sessionId, kind });
  const data = { status: "deleted", kind, seq };
  await enqueueWebhookEvent(tx, { sessionId, type: "session.deleted", at, data, tags });
  // Audit entries come last, because no other one can be written until the transaction ends.
  await forgetMadeOf(tx, sessionId, actor);
  await insertAuditEntry(tx, {
    kind,
    actor,
    workspaceId,
    sessionId,
    subjectId: id,
    detail: removed,
  });
  return { receipt, event: { seq, at } };
}

function countContent(
  tx: DatabaseTransactionConnection,
  sessionId: string,
): Promise<z.output<typeof countsRow>> {
  return tx.one(sql.type(countsRow)`
    select
      (select count(*)::int from segments where session_id = ${sessionId}) as segments,
      (select coalesce(sum(jsonb_array_length(words)), 0)::int
        from segments where session_id = ${sessionId}) as words,
      (select count(*)::int from chunks where session_id = ${sessionId}) as audio_chunks,
      (select coalesce(sum(bytes), 0)::bigint
        from chunks where session_id = ${sessionId}) as audio_bytes,
      (select count(*)::int from speaker_claims where session_id = ${sessionId}) as speaker_claims,
      (select count(*)::int from guests where session_id = ${sessionId}) as guests,
      (select count(*)::int from concerns where session_id = ${sessionId}) as concerns`);
}

/** Erases the words; times and labels of segments stay for records that refer to them. */
async function eraseWords(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  placeholder: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    update segments set text = ${placeholder}, words = '[]'::jsonb, redacted = true
    where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from segment_edits where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from segment_changes where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from candidate_segments where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from redo_candidates where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from redactions where session_id = ${sessionId}`);
  // Recogniser state, voice prints, and data from which a new activation would start.
  await tx.query(sql.unsafe`delete from checkpoints where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from suspects where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from command_outcomes where session_id = ${sessionId}`);
  await deleteSnapshots(tx, sessionId);
  await tx.query(sql.unsafe`
    update chunks set filename = '', error = '', silence_done = silence_wanted
    where session_id = ${sessionId}`);
}

async function erasePeople(tx: DatabaseTransactionConnection, sessionId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from speaker_claims where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from speaker_names where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from speaker_merges where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from voice_suggestions where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from voice_comparisons where session_id = ${sessionId}`);
  // Before the members: one that is being accepted just now becomes a member first, and goes too.
  await tx.query(sql.unsafe`delete from invitations where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from session_members where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`
    update guests set display_name = '', revoked_at = coalesce(revoked_at, now())
    where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`
    update guest_codes set revoked_at = now()
    where session_id = ${sessionId} and revoked_at is null`);
  await tx.query(sql.unsafe`
    update content_elevations set ended_at = now()
    where session_id = ${sessionId} and ended_at is null`);
}

async function endWork(tx: DatabaseTransactionConnection, sessionId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from outbox where session_id = ${sessionId}`);
  // Streamed audio that is not part of a chunk yet.
  await tx.query(sql.unsafe`delete from audio_pieces where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from audio_parts where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from audio_streams where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from damaged_audio where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from stored_audio where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from file_uploads where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`
    update jobs set status = 'cancelled', completed_at = now()
    where session_id = ${sessionId} and status in ('queued', 'running')`);
}

/**
 * Marks the session as deleted. The new epoch makes activations fail that still hold the old one.
 */
async function markDeleted(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  epoch: number,
  seq: number,
  kind: DeletionKind,
): Promise<number> {
  const event: SessionDeleted = { type: "SessionDeleted", kind };
  const { at } = await tx.one(sql.type(z.object({ at: z.number() }))`
    insert into events (session_id, seq, epoch, at, type, payload)
    values (${sessionId}, ${seq}, ${epoch}, date_trunc('milliseconds', now()), ${event.type},
      ${JSON.stringify(event)}::jsonb)
    returning at`);
  await tx.query(sql.unsafe`
    update sessions
    set status = 'deleted', title = '', external_id = null, metadata = '{}'::jsonb, tags = '{}',
        vocabulary = '[]'::jsonb, epoch = ${epoch}, seq = ${seq},
        has_work = false, stopped_at = coalesce(stopped_at, now()), updated_at = now()
    where id = ${sessionId}`);
  return at;
}

/** Finds sessions and edits whose retention time is over. */
export class RetentionStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Ended sessions past their workspace's `retention_days`, but `except`: the oldest of each
   * workspace first, so that none waits for another's backlog.
   */
  async expired(limit: number, except: readonly string[] = []): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(z.object({ id: z.string() }))`
      select due.id
      from workspaces w cross join lateral (
        select s.id, row_number() over (order by coalesce(s.stopped_at, s.started_at)) as turn
        from sessions s
        where s.workspace_id = w.id and s.status in ('processing', 'completed', 'failed')
          and coalesce(s.stopped_at, s.started_at) < now() - make_interval(days => w.retention_days)
          and s.id <> all(${sql.array(except, "uuid")})
        order by coalesce(s.stopped_at, s.started_at) limit ${limit}) due
      where w.retention_days is not null
      order by due.turn, due.id limit ${limit}`);
    return rows.map(({ id }) => id);
  }

  /** Deletes edits that their session never applied, because their text must not stay. */
  async dropStaleEdits(): Promise<number> {
    const { rowCount } = await this.#pool.query(sql.unsafe`
      delete from segment_edits where created_at < now() - interval '1 hour'`);
    return rowCount;
  }
}

/** Why a session was deleted: the kind of its audit entry. */
export type DeletionKind = (typeof SESSION_ERASURES)[number];

export interface DeletionReceipt {
  id: string;
  sessionId: string;
  workspaceId: string;
  kind: DeletionKind;
  /** Unix milliseconds. */
  deletedAt: number;
  /** Counts by kind, e.g. `segments`, `audio_chunks`, `audio_bytes`. */
  removed: Readonly<Record<string, number>>;
  /**
   * True when the files are gone and the erasure is in the ledger; until then the service goes on
   * with both.
   */
  audioErased: boolean;
}

/** A deleted session; `event` is set when this call deleted it. */
export interface DeletedRecord {
  receipt: DeletionReceipt;
  /** The session's last event: its seq and its time, Unix milliseconds. */
  event?: { seq: number; at: number };
}

/** Port: the database's part of deletions; `erase` is one transaction. */
export interface DeletionRecords {
  erase(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletedRecord | undefined>;
  /** Records that the session's files are gone, and that the ledger has the erasure. */
  audioErased(sessionId: string): Promise<void>;
  /** Deleted sessions but `except` whose files may still be there, oldest first. */
  withAudioLeft(limit: number, except?: readonly string[]): Promise<string[]>;
}
