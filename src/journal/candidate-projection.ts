import { type DatabaseTransactionConnection, sql } from "slonik";
import { insertAuditEntry } from "../access/audit-entries-store.ts";
import { SYSTEM } from "../access/audit-entry.ts";
import { noteChosenTranscription } from "../conversations/jobs/transcription-jobs-store.ts";
import type { Change } from "../postgres/append-work.ts";
import type { RedoProposed, RedoRequested, RedoReviewed } from "../session/event.ts";
import { REDACTED_SPAN } from "../session/redaction.ts";
import type { CandidateTaken, CandidateText, SegmentText } from "../session/write.ts";
import { coverChange } from "./redaction-projection.ts";

/** A segment as a row of `segments` or `candidate_segments`, without its session. */
export function segmentRow(segment: SegmentText | CandidateText) {
  return {
    id: segment.segmentId,
    attempt: segment.attempt,
    start_sample: segment.start,
    end_sample: segment.end,
    label: segment.label,
    text: segment.redacted ? REDACTED_SPAN : segment.words.map((word) => word.text).join(" "),
    words: segment.redacted ? [] : segment.words,
    confidence: segment.confidence,
    speaker_confidence: segment.speakerConfidence,
    redacted: segment.redacted === true,
    overlapping: segment.overlaps?.length ? segment.overlaps : null,
  };
}

const COLUMNS = sql.fragment`id, attempt, start_sample, end_sample, label, text, words, confidence,
  redacted, speaker_confidence, overlapping`;

/** Stores the words of a redo's result that waits. */
export function candidateChange(sessionId: string, segments: readonly CandidateText[]): Change {
  const rows = segments.map(segmentRow);
  return {
    writes: ["candidate_segments"],
    sql: (when) => sql.fragment`
      insert into candidate_segments (session_id, ${COLUMNS})
      select ${sessionId}::uuid, s.*
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s (
        id uuid, attempt integer, start_sample bigint, end_sample bigint, label text,
        text text, words jsonb, confidence real, redacted boolean, speaker_confidence real,
        overlapping jsonb)
      where ${when}
      on conflict (session_id, id) do nothing`,
  };
}

/** Makes the words of a waiting result those of the session. */
export function takenChanges(sessionId: string, write: CandidateTaken): Change[] {
  const { segmentIds, redacted } = write;
  const hidden = sql.array(redacted, "uuid");
  const insert: Change["sql"] = (when) => sql.fragment`
    insert into segments (session_id, language, ${COLUMNS})
    select c.session_id, session.language, c.id, c.attempt, c.start_sample, c.end_sample, c.label,
      case when c.id = any(${hidden}) then ${REDACTED_SPAN} else c.text end,
      case when c.id = any(${hidden}) then '[]'::jsonb else c.words end,
      c.confidence, c.id = any(${hidden}), c.speaker_confidence, c.overlapping
    from candidate_segments c join sessions session on session.id = c.session_id
    where c.session_id = ${sessionId} and c.id = any(${sql.array(segmentIds, "uuid")}) and ${when}
    on conflict (session_id, id) do nothing`;
  return [
    { writes: ["segments"], reads: ["candidate_segments"], sql: insert },
    ...coverChange(sessionId, redacted),
  ];
}

/**
 * A redo ends what waits. One whose result will wait notes what the job says of the text that
 * stands, because the job says it again when the result is there.
 */
export async function beginCandidate(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { jobId, attempt, review }: RedoRequested,
): Promise<void> {
  await tx.query(sql.unsafe`delete from candidate_segments where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`delete from redo_candidates where session_id = ${sessionId}`);
  if (review !== true) return;
  await tx.query(sql.unsafe`
    insert into redo_candidates (session_id, job_id, attempt, status, engine, detected_language,
      diarisation_model_version, sound_leaves, other_attempt)
    select ${sessionId}::uuid, id, ${attempt}::int, 'reading', engine, detected_language,
      diarisation_model_version, sound_leaves, attempt
    from jobs where id = ${jobId}`);
}

export async function projectProposal(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { attempt, kept }: RedoProposed,
  at: number,
): Promise<void> {
  await exchangeTranscriptions(tx, sessionId, attempt);
  await tx.query(sql.unsafe`
    update redo_candidates
    set status = 'waiting', kept = ${sql.array(kept, "uuid")}, at = ${sql.timestamp(new Date(at))}
    where session_id = ${sessionId} and attempt = ${attempt}`);
}

/** The job says of itself what the candidate's row said, and the other way round. */
async function exchangeTranscriptions(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  attempt: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    with before as (
      select j.id, j.engine, j.detected_language, j.diarisation_model_version, j.sound_leaves,
        j.attempt
      from jobs j join redo_candidates c on c.job_id = j.id
      where c.session_id = ${sessionId} and c.attempt = ${attempt}
    ), changed as (
      ${noteChosenTranscription(sessionId, attempt)}
    )
    update redo_candidates c
    set engine = before.engine, detected_language = before.detected_language,
      diarisation_model_version = before.diarisation_model_version,
      sound_leaves = before.sound_leaves, other_attempt = before.attempt
    from before where c.session_id = ${sessionId} and c.job_id = before.id`);
}

/** Erases the words that waited; when they were accepted, they are the session's by now. */
export async function projectReview(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { jobId, attempt, outcome, byUserId }: RedoReviewed,
): Promise<void> {
  if (outcome === "accepted") await exchangeTranscriptions(tx, sessionId, attempt);
  await tx.query(sql.unsafe`delete from candidate_segments where session_id = ${sessionId}`);
  await tx.query(sql.unsafe`
    update redo_candidates set status = ${outcome}, kept = '{}'
    where session_id = ${sessionId} and attempt = ${attempt}`);
  await insertAuditEntry(tx, {
    kind: "transcription_reviewed",
    actor: byUserId === undefined ? SYSTEM : { kind: "user", id: byUserId },
    sessionId,
    subjectId: jobId,
    detail: { attempt, outcome },
  });
}

/** Gives segments of a waiting result back to the label that a merge took them from. */
export async function unmergeCandidate(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  ids: readonly string[],
  label: string,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql.unsafe`
    update candidate_segments set label = ${label}, speaker_confidence = null
    where session_id = ${sessionId} and id = any(${sql.array([...ids], "uuid")})`);
}

export async function mergeCandidate(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  from: string,
  into: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    update candidate_segments set label = ${into}, speaker_confidence = null
    where session_id = ${sessionId} and label = ${from}`);
}
