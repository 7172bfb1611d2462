import type { AuditActor } from "../../../src/access/audit-entry.ts";
import type {
  DeletedRecord,
  DeletionKind,
  DeletionReceipt,
  DeletionRecords,
} from "../../../src/conversations/erasure/session-erasure-store.ts";
import type { SessionDeleted } from "../../../src/session/event.ts";
import { deletionPlaceholder } from "../../../src/session/redaction.ts";
import { insertAudit, wordsOf } from "./projections.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { ReceiptRow, SessionRow } from "./rows.ts";
import type { Statement } from "./statement.ts";
import { enqueueWebhookEvents, type TwinParts } from "./twin-journal.ts";

/** The record's part of deletions, over tables in memory. */
export class TwinDeletion implements DeletionRecords {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  erase(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletedRecord | undefined> {
    const { client, t } = this.#parts;
    return client.transaction(async (tx) => {
      // The row that every append and every chunk insert locks and checks.
      const session = await tx.run((s) => s.lock(t.sessions, sessionId, "update"));
      if (session === undefined) return undefined;
      if (session.status !== "deleted") return eraseSession(tx, this.#parts, session, kind, actor);
      const receipt = await tx.run((s) => s.get(t.receipts, sessionId));
      return receipt && { receipt: toReceipt(receipt) };
    });
  }

  async audioErased(sessionId: string): Promise<void> {
    const { client, t } = this.#parts;
    await client.query((s) =>
      s.update(t.receipts, sessionId, ({ audio_erased_at }) => ({
        audio_erased_at: audio_erased_at ?? s.now,
      })),
    );
  }

  withAudioLeft(limit: number): Promise<string[]> {
    const { client, t } = this.#parts;
    return client.query((s) =>
      s
        .all(t.receipts)
        .filter(({ audio_erased_at: at }) => at === null)
        .sort((a, b) => a.deleted_at - b.deleted_at)
        .slice(0, limit)
        .map(({ session_id }) => session_id),
    );
  }
}

function toReceipt(row: ReceiptRow): DeletionReceipt {
  return {
    id: row.id,
    sessionId: row.session_id,
    workspaceId: row.workspace_id,
    kind: row.kind as DeletionKind,
    deletedAt: row.deleted_at,
    removed: JSON.parse(row.removed) as Record<string, number>,
    audioErased: row.audio_erased_at !== null,
  };
}

async function eraseSession(
  tx: Conversation,
  { t, newId }: TwinParts,
  session: SessionRow,
  kind: DeletionKind,
  actor: AuditActor,
): Promise<DeletedRecord> {
  const { id, workspace_id: workspaceId } = session;
  const removed = await tx.run((s) => countContent(s, t, id));
  await eraseContent(tx, t, id, deletionPlaceholder(kind));
  const seq = session.seq + 1;
  const at = await markDeleted(tx, t, session, kind);
  const receiptId = newId();
  const receipt = await tx.run(async (s) => {
    const row = {
      id: receiptId,
      session_id: id,
      workspace_id: workspaceId,
      kind,
      deleted_at: s.now,
      removed: JSON.stringify(removed),
      audio_erased_at: null,
    };
    await s.insertNew(t.receipts, row);
    return toReceipt(row);
  });
  const data = { status: "deleted", kind, seq };
  await enqueueWebhookEvents(tx, { t, newId }, id, [{ type: "session.deleted", at, data }]);
  await insertAudit(tx, t, newId(), {
    kind,
    actor,
    workspaceId,
    sessionId: id,
    subjectId: receiptId,
    detail: removed,
  });
  return { receipt, event: { seq, at } };
}

function countContent(s: Statement, t: RecordTables, id: string): Record<string, number> {
  const segments = s.all(t.segments, id);
  const chunks = s.all(t.chunks, id);
  return {
    segments: segments.length,
    words: segments.reduce((sum, row) => sum + wordsOf(row).length, 0),
    audio_chunks: chunks.length,
    audio_bytes: chunks.reduce((sum, { bytes }) => sum + bytes, 0),
    speaker_claims: s.all(t.claims, id).length,
    guests: 0,
    concerns: 0,
    marks: 0,
    summaries: 0,
    graphs: 0,
  };
}

/** Statement by statement, as the service does it: who waits for one of these rows waits on. */
async function eraseContent(
  tx: Conversation,
  t: RecordTables,
  id: string,
  placeholder: string,
): Promise<void> {
  const all = () => true;
  await tx.run((s) =>
    s.updateAll(t.segments, id, all, () => ({ text: placeholder, words: "[]", redacted: true })),
  );
  await tx.run((s) => s.removeAll(t.edits, id));
  await tx.run((s) => s.removeAll(t.redactions, id));
  await tx.run((s) => s.removeAll(t.checkpoints, id));
  await tx.run((s) => s.removeAll(t.suspects, id));
  await tx.run((s) => s.removeAll(t.outcomes, id));
  await tx.run((s) => s.removeAll(t.snapshots, id));
  await tx.run((s) =>
    s.updateAll(t.chunks, id, all, ({ silence_wanted }) => ({
      filename: "",
      error: "",
      silence_done: silence_wanted,
    })),
  );
  await tx.run((s) => s.removeAll(t.claims, id));
  await tx.run((s) => s.removeAll(t.outbox, id));
  await tx.run((s) => s.removeAll(t.pieces, id));
  await tx.run((s) => s.removeAll(t.streams, id));
  await tx.run((s) =>
    s.updateAll(
      t.jobs,
      id,
      ({ status }) => status === "queued" || status === "running",
      () => ({ status: "cancelled" as const, completed_at: s.now }),
    ),
  );
}

/** The new epoch turns every activation away that still holds the old one. */
async function markDeleted(
  tx: Conversation,
  t: RecordTables,
  { id, epoch, seq }: SessionRow,
  kind: DeletionKind,
): Promise<number> {
  const event: SessionDeleted = { type: "SessionDeleted", kind };
  const next = { epoch: epoch + 1, seq: seq + 1 };
  const at = await tx.run(async (s) => {
    const now = Math.floor(s.now);
    await s.insertNew(t.events, {
      session_id: id,
      ...next,
      at: now,
      type: event.type,
      payload: JSON.stringify(event),
    });
    return now;
  });
  await tx.run((s) =>
    s.update(t.sessions, id, ({ stopped_at }) => ({
      status: "deleted" as const,
      title: "",
      vocabulary: "[]",
      ...next,
      has_work: false,
      stopped_at: stopped_at ?? s.now,
      updated_at: s.now,
    })),
  );
  return at;
}
