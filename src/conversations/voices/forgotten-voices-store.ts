import {
  type CommonQueryMethods,
  type DatabaseTransactionConnection,
  type FragmentSqlToken,
  sql,
} from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { type AuditActor, SYSTEM } from "../../access/audit-entry.ts";

const forgottenRow = z.object({ userId: z.string(), workspaceId: z.string() });

/** Why a voice is forgotten, as its audit entry says it. */
type Reason = "claim_ended" | "claim_contested" | "source_deleted";

/** One reason why voices that were remembered of a session are forgotten. */
interface Forgetting {
  /** Of `remembered_voices v`. */
  which: FragmentSqlToken;
  reason: Reason;
  actor: AuditActor;
}

/**
 * Forgets the voices that were remembered of this session's labels and whose person does not claim
 * the label any more: it was not theirs.
 */
export function forgetDisowned(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  byUserId?: string,
): Promise<void> {
  const which = sql.fragment`not exists (
    select from speaker_claims c
    where c.session_id = v.session_id and c.label = v.label
      and c.claimed_user_id = v.user_id and c.revoked_at is null)`;
  const actor: AuditActor = byUserId === undefined ? SYSTEM : { kind: "user", id: byUserId };
  return forget(tx, sessionId, { which, reason: "claim_ended", actor });
}

/**
 * Forgets the voices that were remembered of a session whose sound goes, or of the labels of those
 * segments of it that go, except where their person had said that they stay.
 */
export function forgetMadeOf(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  actor: AuditActor,
  segmentIds?: readonly string[],
): Promise<void> {
  const concerned =
    segmentIds === undefined
      ? sql.fragment`true`
      : sql.fragment`v.label in (
          select label from segments
          where session_id = ${sessionId} and id = any(${sql.array([...segmentIds], "uuid")}))`;
  const which = sql.fragment`not v.keep_after_deletion and ${concerned}`;
  return forget(tx, sessionId, { which, reason: "source_deleted", actor });
}

/** Forgets the voice that was remembered by a claim on a label that somebody contests. */
export function forgetContested(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  label: string,
  byUserId: string,
): Promise<void> {
  const which = sql.fragment`v.label = ${label} and v.user_id <> ${byUserId}`;
  const actor: AuditActor = { kind: "user", id: byUserId };
  return forget(tx, sessionId, { which, reason: "claim_contested", actor });
}

/** For whoever deletes a session. */
export function forgetDeleted(
  tx: DatabaseTransactionConnection,
  { id, actor }: { id: string; actor: AuditActor },
): Promise<void> {
  return forgetMadeOf(tx, id, actor);
}

/**
 * Forgets voices again of which the record of erasures says that they were: a restored database had them. Resolves to
 * how many.
 */
export async function forgetVoicesAgain(pool: CommonQueryMethods): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from remembered_voices v using erasures e
    where e.subject_id = v.id and e.kind = 'voice_forgotten'`);
  return rowCount;
}

async function forget(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { which, reason, actor }: Forgetting,
): Promise<void> {
  const forgotten = await tx.any(sql.type(forgottenRow)`
    delete from remembered_voices v where v.session_id = ${sessionId} and ${which}
    returning user_id as "userId", workspace_id as "workspaceId"`);
  for (const { userId, workspaceId } of forgotten) {
    await insertAuditEntry(tx, {
      kind: "voice_forgotten",
      actor,
      workspaceId,
      sessionId,
      subjectId: userId,
      detail: { [reason]: true },
    });
  }
}
