import { type DatabaseTransactionConnection, sql } from "slonik";
import { insertAuditEntry } from "../access/audit-entries-store.ts";
import { toMilliseconds } from "../base/audio/sample-rate.ts";
import { dropEdit } from "../features/transcript/segments-store.ts";
import { takeName } from "../features/transcript/speaker-names-store.ts";
import type { Change, Work } from "../postgres/append-work.ts";
import type {
  JobCompleted,
  JobFailed,
  JobStarted,
  RedoCancelled,
  RedoRequested,
  SegmentRevised,
  SessionCompleted,
  SessionEvent,
  SessionFailed,
  SessionStopped,
  SpeakersRevised,
  TranscriptReplaced,
} from "../session/event.ts";
import { beginCandidate, projectProposal, projectReview } from "./candidate-projection.ts";
import { projectClaim, projectUnclaim } from "./claim-projection.ts";
import { noteEdit, noteReassigned } from "./line-history.ts";
import { projectRedaction } from "./redaction-projection.ts";
import { projectMerge, projectUnmerge, relabel } from "./voice-projection.ts";

/**
 * Returns the work that updates the read tables with an event. Words are stored before it, by the
 * same batch.
 */
export function eventWork(sessionId: string, event: SessionEvent, at: number): Work[] {
  switch (event.type) {
    case "SpeakersRevised":
      return revisionWork(sessionId, event);
    case "SpeakersUnmerged":
      return [(tx) => projectUnmerge(tx, sessionId, event)];
    case "SegmentsReassigned":
      return [
        (tx) => noteReassigned(tx, sessionId, event, at),
        relabel(sessionId, event.segments, event.label),
      ];
    case "SpeakerClaimed":
      return [(tx) => projectClaim(tx, sessionId, event)];
    case "SpeakerUnclaimed":
      return [(tx) => projectUnclaim(tx, sessionId, event)];
    case "SpeakerNamed":
      return [(tx) => takeName(tx, sessionId, event)];
    case "SessionStopped":
    case "SessionCompleted":
    case "SessionFailed":
      return [(tx) => projectPhase(tx, sessionId, event, at)];
    case "JobFailed":
      return [jobFailed(event, at)];
    case "JobStarted":
      return [jobStarted(event, at)];
    case "JobCompleted":
      return [(tx) => projectJobCompleted(tx, sessionId, event, at)];
    case "TranscriptReplaced":
      return [(tx) => projectReplacement(tx, sessionId, event)];
    case "RedoRequested":
      return [(tx) => projectRedo(tx, sessionId, event)];
    case "RedoCancelled":
      return [redoCancelled(event, at)];
    case "RedoProposed":
      return [(tx) => projectProposal(tx, sessionId, event, at)];
    case "RedoReviewed":
      return [(tx) => projectReview(tx, sessionId, event)];
    case "SegmentRevised":
      return [(tx) => projectEdit(tx, sessionId, event, at)];
    case "SpanRedacted":
      return [(tx) => projectRedaction(tx, sessionId, event)];
    default:
      return [];
  }
}

/** Updates the session's own row, which every append has locked already. */
async function projectPhase(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SessionStopped | SessionCompleted | SessionFailed,
  at: number,
): Promise<void> {
  if (event.type === "SessionStopped") {
    await tx.query(sql.unsafe`
      update sessions
      set status = 'processing', stopped_at = coalesce(stopped_at, ${timestamp(at)}),
          last_chunk_sequence = coalesce(last_chunk_sequence, ${event.lastSequence})
      where id = ${sessionId} and status in ('recording', 'processing')`);
    return;
  }
  const isFailed = event.type === "SessionFailed";
  const reason = (isFailed ? event.reason : undefined) ?? null;
  await tx.query(sql.unsafe`
    update sessions
    set status = ${isFailed ? "failed" : "completed"}, completed_at = ${timestamp(at)},
        failure_reason = ${reason}
    where id = ${sessionId} and status <> 'deleted'`);
}

function jobFailed(event: JobFailed, at: number): Change {
  return {
    writes: ["jobs"],
    sql: (when) => sql.fragment`
      update jobs
      set status = 'failed', progress = 1, error = ${event.message}, completed_at = ${timestamp(at)}
      where id = ${event.jobId} and status <> 'cancelled' and ${when}`,
  };
}

function redoCancelled(event: RedoCancelled, at: number): Change {
  return {
    writes: ["jobs"],
    sql: (when) => sql.fragment`
      update jobs set status = 'cancelled', progress = 0, completed_at = ${timestamp(at)}
      where id = ${event.jobId} and status in ('queued', 'running') and ${when}`,
  };
}

function timestamp(at: number): ReturnType<typeof sql.timestamp> {
  return sql.timestamp(new Date(at));
}

function revisionWork(sessionId: string, event: SpeakersRevised): Work[] {
  const { merges, revisions, byUserId } = event;
  const rows = revisions.map((revision) => [revision.segmentId, revision.label]);
  const relabel: Change = {
    writes: ["segments"],
    sql: (when) => sql.fragment`
      update segments as s set label = r.label, speaker_confidence = null
      from ${sql.unnest(rows, ["uuid", "text"])} as r (id, label)
      where s.session_id = ${sessionId} and s.id = r.id and ${when}`,
  };
  return [
    ...merges.map(
      (merge): Work =>
        (tx) =>
          projectMerge(tx, sessionId, merge, byUserId !== undefined),
    ),
    ...(rows.length > 0 ? [relabel] : []),
  ];
}

function jobStarted(event: JobStarted, at: number): Change {
  return {
    writes: ["jobs"],
    sql: (when) => sql.fragment`
      update jobs
      set status = 'running', error = '', attempt = ${event.attempt}, engine = ${event.engine},
          detected_language = ${event.detectedLanguage},
          sound_leaves = ${event.soundLeaves === true},
          diarisation_model_version = ${event.diarisationModelVersion},
          started_at = coalesce(started_at, ${timestamp(at)})
      where id = ${event.jobId} and status in ('queued', 'running') and ${when}`,
  };
}

async function projectRedo(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: RedoRequested,
): Promise<void> {
  const { jobId, attempt, byUserId } = event;
  await beginCandidate(tx, sessionId, event);
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

/** Recomputes the counts and the mean confidence, weighted by words, from the present segments. */
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
  // Added segments were stored before this event, so they stay even if the event also removes them.
  const added = new Set(event.added.map((mark) => mark.segmentId));
  const removed = event.removed.map((mark) => mark.segmentId).filter((id) => !added.has(id));
  await tx.query(sql.unsafe`
    delete from segments
    where session_id = ${sessionId} and id = any(${sql.array(removed, "uuid")})`);
  // Late audio at the end may make a completed session longer.
  await tx.query(sql.unsafe`
    update jobs set duration_ms = greatest(duration_ms, ${toMilliseconds(event.to)})
    where id = ${event.jobId} and status = 'completed'`);
  await recount(tx, sessionId, event.jobId);
  if (event.editsReplaced === undefined) return;
  await tx.query(sql.unsafe`
    update jobs set edits_replaced = ${event.editsReplaced} where id = ${event.jobId}`);
}

/** Moves the edit's text into the segment; its words keep no times of their own. */
async function projectEdit(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: SegmentRevised,
  at: number,
): Promise<void> {
  await noteEdit(tx, sessionId, event, at);
  await tx.query(sql.unsafe`
    update segments set label = ${event.label}, revision = ${event.revision},
      speaker_confidence = case when label = ${event.label} then speaker_confidence end
    where session_id = ${sessionId} and id = ${event.segmentId}`);
  if (event.editId === undefined) return;
  await tx.query(sql.unsafe`
    update segments as s set text = e.text, words = e.words
    from segment_edits as e
    where e.id = ${event.editId} and s.session_id = ${sessionId} and s.id = ${event.segmentId}`);
  await dropEdit(tx, event.editId);
}
