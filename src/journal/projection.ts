import { type CommonQueryMethods, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../access/audit-entries-store.ts";
import { toMilliseconds } from "../base/audio/sample-rate.ts";
import {
  completeTranscription,
  jobFailed,
  jobStarted,
  noteReplaced,
  redoCancelled,
  requeueTranscription,
} from "../conversations/jobs/transcription-jobs-store.ts";
import { projectPhase } from "../conversations/sessions/session-rows-store.ts";
import { dropEdit } from "../conversations/transcript/segments-store.ts";
import { takeName } from "../conversations/transcript/speaker-names-store.ts";
import type { Change, Work } from "../postgres/append-work.ts";
import { deleteSnapshots } from "../postgres/session-snapshots.ts";
import type {
  RedoRequested,
  SegmentRevised,
  SegmentsReassigned,
  SessionDeleted,
  SessionEvent,
  SpeakersRevised,
  TranscriptReplaced,
} from "../session/event.ts";
import { beginCandidate, projectProposal, projectReview } from "./candidate-projection.ts";
import { projectClaim, projectUnclaim } from "./claim-projection.ts";
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
      return [(tx) => completeTranscription(tx, sessionId, event, at)];
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

async function projectRedo(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  event: RedoRequested,
): Promise<void> {
  const { jobId, attempt, byUserId } = event;
  await beginCandidate(tx, sessionId, event);
  await requeueTranscription(tx, event);
  await insertAuditEntry(tx, {
    kind: "transcription_redone",
    actor: { kind: "user", id: byUserId },
    sessionId,
    subjectId: jobId,
    detail: { attempt },
  });
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
  const { jobId, editsReplaced } = event;
  await noteReplaced(tx, sessionId, { jobId, toMs: toMilliseconds(event.to), editsReplaced });
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

/**
 * Erases what the journal's projections keep of a session. Of the words `placeholder` stays; times
 * and labels of segments stay for records that refer to them.
 */
export async function eraseProjections(
  tx: CommonQueryMethods,
  { id, placeholder }: { id: string; placeholder: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    update segments set text = ${placeholder}, words = '[]'::jsonb, redacted = true
    where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from segment_changes where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from candidate_segments where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from redo_candidates where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from redactions where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from speaker_claims where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from speaker_merges where session_id = ${id}`);
  // Recogniser state, voice prints, and data from which a new activation would start.
  await tx.query(sql.unsafe`delete from checkpoints where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from suspects where session_id = ${id}`);
  await deleteSnapshots(tx, id);
}

/** Appends the last event of a session; resolves to its time, Unix milliseconds. */
export async function appendDeletion(
  tx: CommonQueryMethods,
  { id, epoch, seq, kind }: { id: string; epoch: number; seq: number; kind: string },
): Promise<number> {
  const event: SessionDeleted = { type: "SessionDeleted", kind };
  return tx.oneFirst(sql.type(z.object({ at: z.number() }))`
    insert into events (session_id, seq, epoch, at, type, payload)
    values (${id}, ${seq}, ${epoch}, date_trunc('milliseconds', now()), ${event.type},
      ${JSON.stringify(event)}::jsonb)
    returning at`);
}

/**
 * Keeps what a person changes of a segment, with the words before and after. Must be called before
 * the segment is changed, and before the edit's text is deleted.
 */
async function noteEdit(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { segmentId, label, editId, byUserId }: SegmentRevised,
  at: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into segment_changes (session_id, segment_id, at, by_user_id, label_before, label_after,
      text_before, text_after)
    select s.session_id, s.id, ${moment(at)}, ${byUserId}, s.label, ${label},
      case when e.id is not null then s.text end, e.text
    from segments s left join segment_edits e on e.id = ${editId ?? null}
    where s.session_id = ${sessionId} and s.id = ${segmentId}`);
}

/** The same for segments that a person gave to another speaker. Must be called before that. */
async function noteReassigned(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { segments, label, byUserId }: SegmentsReassigned,
  at: number,
): Promise<void> {
  const ids = sql.array(
    segments.map(({ segmentId }) => segmentId),
    "uuid",
  );
  await tx.query(sql.unsafe`
    insert into segment_changes (session_id, segment_id, at, by_user_id, label_before, label_after)
    select session_id, id, ${moment(at)}, ${byUserId}, label, ${label}
    from segments where session_id = ${sessionId} and id = any(${ids})`);
}

function moment(at: number): ReturnType<typeof sql.timestamp> {
  return sql.timestamp(new Date(at));
}
