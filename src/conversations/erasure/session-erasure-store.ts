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
import { deletionPlaceholder } from "../../session/redaction.ts";
import { enqueueWebhookEvent } from "../../tenancy/webhooks/queue-store.ts";
import { markDeleted } from "../sessions/store.ts";
import { SESSION_ERASURES } from "./ledger/ledger-folder.ts";
import { noteErasure } from "./ledger/ledger-store.ts";

/** A session that is being deleted: its words become `placeholder`. */
interface LeavingSession {
  readonly id: string;
  readonly placeholder: string;
  readonly actor: AuditActor;
}

/** What a feature deletes or ends in the transaction that deletes a session. */
type Ending<T> = (tx: DatabaseTransactionConnection, session: LeavingSession) => Promise<T>;

/** The parts of a deletion that belong to others. */
export interface DeletionParts {
  /** Carried out first; each resolves to how many of its kinds went, for the receipt. */
  readonly counted: readonly Ending<Readonly<Record<string, number>>>[];
  /** Carried out one after the other. */
  readonly endings: readonly Ending<void>[];
  /** Appends the session's last event; resolves to its time, Unix milliseconds. */
  readonly append: (
    tx: DatabaseTransactionConnection,
    event: { id: string; epoch: number; seq: number; kind: DeletionKind },
  ) => Promise<number>;
  /** Ends what is remembered of the session's voices. Comes last, with its audit entries. */
  readonly forget: Ending<void>;
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
  readonly #parts: DeletionParts;

  constructor(pool: DatabasePool, parts: DeletionParts) {
    this.#pool = pool;
    this.#parts = parts;
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
      return this.#eraseSession(tx, { id: sessionId, ...session }, kind, actor);
    });
  }

  async #eraseSession(
    tx: DatabaseTransactionConnection,
    session: z.output<typeof sessionRow> & { id: string },
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletedRecord> {
    const { id: sessionId, workspaceId, tags } = session;
    const leaving = { id: sessionId, placeholder: deletionPlaceholder(kind), actor };
    let removed: Readonly<Record<string, number>> = await countContent(tx, sessionId);
    const { counted, endings, append, forget } = this.#parts;
    for (const erase of counted) removed = { ...removed, ...(await erase(tx, leaving)) };
    for (const end of endings) await end(tx, leaving);
    const [epoch, seq] = [session.epoch + 1, session.seq + 1];
    const at = await append(tx, { id: sessionId, epoch, seq, kind });
    await markDeleted(tx, { id: sessionId, epoch, seq });
    const id = newId();
    await tx.query(sql.unsafe`
      insert into deletion_receipts (id, session_id, workspace_id, kind, removed)
      values (${id}, ${sessionId}, ${workspaceId}, ${kind}, ${JSON.stringify(removed)}::jsonb)`);
    const receipt = await readReceipt(tx, sessionId);
    if (receipt === undefined) throw new Error("The receipt was not written.");
    await noteErasure(tx, { id: sessionId, kind });
    const data = { status: "deleted", kind, seq };
    await enqueueWebhookEvent(tx, { sessionId, type: "session.deleted", at, data, tags });
    // Audit entries come last, because no other one can be written until the transaction ends.
    await forget(tx, leaving);
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

/** Finds sessions whose retention time is over. */
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
