import { type DatabaseTransactionConnection, sql } from "slonik";
import type { Recorded } from "../actor/journal.ts";
import type {
  JobCompleted,
  JobStarted,
  RedoRequested,
  SegmentRevised,
  SessionEvent,
  SpeakersRevised,
  TranscriptReplaced,
} from "../session/event.ts";
import { insertAuditEntry } from "./audit-entries.ts";
import { projectChunks } from "./chunk-projection.ts";
import { mergeClaims, projectClaim, projectUnclaim } from "./claim-projection.ts";
import { projectRedaction } from "./redaction-projection.ts";

/**
 * Brings the read tables up to date with a batch of events. Words were stored
 * before, by the writes of the same batch.
 */
export async function projectEvents(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  events: readonly Recorded<SessionEvent>[],
): Promise<void> {
  await projectChunks(tx, sessionId, events);
  for (const { event, at } of events) await projectEvent(tx, sessionId, event, at);
}

async function projectEvent(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SessionEvent,
  at: number,
): Promise<void> {
  switch (event.type) {
    case "SpeakersRevised":
      return projectRevision(tx, sessionId, event);
    case "SpeakerClaimed":
      return projectClaim(tx, sessionId, event);
    case "SpeakerUnclaimed":
      return projectUnclaim(tx, sessionId, event);
    case "SessionStopped":
      await tx.query(sql.unsafe`
        update sessions
        set status = 'processing', stopped_at = coalesce(stopped_at, ${timestamp(at)}),
            last_chunk_sequence = coalesce(last_chunk_sequence, ${event.lastSequence})
        where id = ${sessionId} and status in ('recording', 'processing')`);
      return;
    case "SessionCompleted":
      await tx.query(sql.unsafe`
        update sessions set status = 'completed', completed_at = ${timestamp(at)}
        where id = ${sessionId} and status <> 'deleted'`);
      return;
    case "SessionFailed":
      await tx.query(sql.unsafe`
        update sessions set status = 'failed', completed_at = ${timestamp(at)}
        where id = ${sessionId} and status <> 'deleted'`);
      return;
    case "JobFailed":
      await tx.query(sql.unsafe`
        update jobs
        set status = 'failed', progress = 1, error = ${event.message}, completed_at = ${timestamp(at)}
        where id = ${event.jobId} and status <> 'cancelled'`);
      return;
    case "JobStarted":
      return projectJobStarted(tx, event, at);
    case "JobCompleted":
      return projectJobCompleted(tx, sessionId, event, at);
    case "TranscriptReplaced":
      return projectReplacement(tx, sessionId, event);
    case "RedoRequested":
      return projectRedo(tx, sessionId, event);
    case "RedoCancelled":
      await tx.query(sql.unsafe`
        update jobs set status = 'cancelled', progress = 0, completed_at = ${timestamp(at)}
        where id = ${event.jobId} and status in ('queued', 'running')`);
      return;
    case "SegmentRevised":
      return projectEdit(tx, sessionId, event);
    case "SpanRedacted":
      return projectRedaction(tx, sessionId, event);
    default:
      return;
  }
}

function timestamp(at: number): ReturnType<typeof sql.timestamp> {
  return sql.timestamp(new Date(at));
}

async function projectRevision(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SpeakersRevised,
): Promise<void> {
  for (const { from, into } of event.merges) {
    await tx.query(sql.unsafe`
      update segments set label = ${into} where session_id = ${sessionId} and label = ${from}`);
    await mergeClaims(tx, sessionId, from, into);
  }
  if (event.revisions.length === 0) return;
  const rows = event.revisions.map((revision) => [revision.segmentId, revision.label]);
  await tx.query(sql.unsafe`
    update segments as s set label = r.label
    from ${sql.unnest(rows, ["uuid", "text"])} as r (id, label)
    where s.session_id = ${sessionId} and s.id = r.id`);
}

async function projectJobStarted(
  tx: DatabaseTransactionConnection,
  event: JobStarted,
  at: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs
    set status = 'running', attempt = ${event.attempt}, engine = ${event.engine},
        detected_language = ${event.detectedLanguage},
        diarisation_model_version = ${event.diarisationModelVersion},
        started_at = coalesce(started_at, ${timestamp(at)})
    where id = ${event.jobId} and status in ('queued', 'running')`);
}

async function projectRedo(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { jobId, attempt, byUserId }: RedoRequested,
): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs
    set status = 'queued', attempt = ${attempt}, progress = 0, error = '',
        started_at = null, completed_at = null, edits_replaced = 0
    where id = ${jobId}`);
  await insertAuditEntry(tx, {
    kind: "transcription_redone",
    actor: { kind: "user", id: byUserId },
    sessionId,
    subjectId: jobId,
    detail: { attempt },
  });
}

async function projectJobCompleted(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: JobCompleted,
  at: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs
    set status = 'completed', progress = 1, error = '', completed_at = ${timestamp(at)},
        duration_ms = ${event.durationMs}
    where id = ${event.jobId} and status <> 'cancelled'`);
  await recount(tx, sessionId, event.jobId);
}

/** Counts and the mean confidence, weighted by words, from the segments that stand. */
async function recount(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  jobId: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs as j
    set segment_count = s.segments, speaker_count = s.speakers, avg_confidence = s.confidence
    from (
      select count(*)::int as segments,
             count(distinct label) filter (where label <> 'UU')::int as speakers,
             (sum(confidence * jsonb_array_length(words))
               / nullif(sum(jsonb_array_length(words)), 0))::real as confidence
      from segments where session_id = ${sessionId}
    ) as s
    where j.id = ${jobId}`);
}

async function projectReplacement(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: TranscriptReplaced,
): Promise<void> {
  // What was added was stored before this: it stays, whatever was removed.
  const added = new Set(event.added.map((mark) => mark.segmentId));
  const removed = event.removed.map((mark) => mark.segmentId).filter((id) => !added.has(id));
  await tx.query(sql.unsafe`
    delete from segments
    where session_id = ${sessionId} and id = any(${sql.array(removed, "uuid")})`);
  // Late audio at the end makes a session longer that was complete without it.
  await tx.query(sql.unsafe`
    update jobs set duration_ms = greatest(duration_ms, ${Math.round(event.to / 16)})
    where id = ${event.jobId} and status = 'completed'`);
  await recount(tx, sessionId, event.jobId);
  if (event.editsReplaced === undefined) return;
  await tx.query(sql.unsafe`
    update jobs set edits_replaced = ${event.editsReplaced} where id = ${event.jobId}`);
}

/** The edit's text moves into the segment; its words keep no times of their own. */
async function projectEdit(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SegmentRevised,
): Promise<void> {
  await tx.query(sql.unsafe`
    update segments set label = ${event.label}, revision = ${event.revision}
    where session_id = ${sessionId} and id = ${event.segmentId}`);
  if (event.editId === undefined) return;
  await tx.query(sql.unsafe`
    update segments as s set text = e.text, words = e.words
    from segment_edits as e
    where e.id = ${event.editId} and s.session_id = ${sessionId} and s.id = ${event.segmentId}`);
  await tx.query(sql.unsafe`delete from segment_edits where id = ${event.editId}`);
}
