import { type DatabaseTransactionConnection, sql } from "slonik";
import { insertAuditEntry } from "../access/audit-entries-store.ts";
import { SAMPLES_PER_MS } from "../base/audio/sample-rate.ts";
import { noteErasure } from "../conversations/erasure/ledger/ledger-store.ts";
import { eraseGraph } from "../conversations/questions/graph/build-store.ts";
import { eraseNotes } from "../conversations/summaries/store.ts";
import { eraseMarksWithin } from "../conversations/transcript/marks/store.ts";
import { eraseEditsOf } from "../conversations/transcript/segments-store.ts";
import { forgetMadeOf } from "../conversations/voices/forgotten-voices-store.ts";
import type { Change } from "../postgres/append-work.ts";
import type { SpanRedacted } from "../session/event.ts";
import { REDACTED_SPAN } from "../session/redaction.ts";

/** Erases the words, records the audio to silence, and writes the audit entry. */
export async function projectRedaction(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SpanRedacted,
): Promise<void> {
  const ids = sql.array(event.segmentIds, "uuid");
  await tx.query(sql.unsafe`
    update segments set text = ${REDACTED_SPAN}, words = '[]'::jsonb, redacted = true
    where session_id = ${sessionId} and id = any(${ids})`);
  await redactCandidate(tx, sessionId, event.candidateIds ?? []);
  await eraseEditsOf(tx, sessionId, event.segmentIds);
  await tx.query(sql.unsafe`
    update segment_changes set text_before = null, text_after = null
    where session_id = ${sessionId} and segment_id = any(${ids})`);
  await eraseNotes(tx, { id: sessionId });
  await eraseGraph(tx, { id: sessionId });
  if (event.label === undefined) {
    await coverSpan(tx, sessionId, event);
    await eraseMarksWithin(tx, sessionId, event);
  }
  // A segment that the span only touches was also spoken outside of the span, so its whole span is
  // added.
  for (const change of coverChange(sessionId, event.segmentIds)) {
    await tx.query(sql.unsafe`${change.sql(sql.fragment`true`)}`);
  }
  const actor = { kind: await kindOf(tx, event.byUserId), id: event.byUserId };
  await forgetMadeOf(tx, sessionId, actor, event.segmentIds);
  const { redactionId: id, from, to, label = "", byUserId } = event;
  const redaction = { sessionId, from, to, label, byUserId };
  await noteErasure(tx, { id, kind: "span_redacted", redaction });
  await insertAuditEntry(tx, {
    kind: event.label === undefined ? "span_redacted" : "speaker_redacted",
    actor,
    sessionId,
    subjectId: event.redactionId,
    detail: {
      from_ms: event.from / SAMPLES_PER_MS,
      to_ms: event.to / SAMPLES_PER_MS,
      segments: event.segmentIds.length,
    },
  });
}

/** Erases words of a redo's result that waits. */
async function redactCandidate(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  segmentIds: readonly string[],
): Promise<void> {
  if (segmentIds.length === 0) return;
  await tx.query(sql.unsafe`
    update candidate_segments set text = ${REDACTED_SPAN}, words = '[]'::jsonb, redacted = true
    where session_id = ${sessionId} and id = any(${sql.array([...segmentIds], "uuid")})`);
}

/** The kind of actor, because the event has only an id, which may be that of a service key. */
async function kindOf(
  tx: DatabaseTransactionConnection,
  actorId: string,
): Promise<"user" | "service"> {
  const isKey = await tx.exists(sql.unsafe`select from service_keys where id = ${actorId}`);
  return isKey ? "service" : "user";
}

async function coverSpan(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { redactionId, from, to }: SpanRedacted,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into redactions (id, session_id, start_sample, end_sample)
    values (${redactionId}, ${sessionId}, ${from}, ${to})
    on conflict (id) do nothing`);
}

/**
 * Adds the spans of segments of the table, for example of a new reading under an earlier redaction.
 */
export function coverChange(sessionId: string, segmentIds: readonly string[]): Change[] {
  if (segmentIds.length === 0) return [];
  const ids = sql.array([...segmentIds], "uuid");
  return [
    {
      writes: ["redactions"],
      reads: ["segments"],
      sql: (when) => sql.fragment`
        insert into redactions (id, session_id, start_sample, end_sample, label)
        select id, session_id, start_sample, end_sample, label from segments
        where session_id = ${sessionId} and id = any(${ids}) and ${when}
        on conflict (id) do nothing`,
    },
  ];
}
