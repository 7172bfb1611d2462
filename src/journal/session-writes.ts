import { type FragmentSqlToken, sql } from "slonik";
import { jobProgressed } from "../conversations/jobs/transcription-jobs-store.ts";
import type { Change } from "../postgres/append-work.ts";
import type {
  CheckpointsLimitWrite,
  CheckpointWrite,
  HandedOnWrite,
  SegmentText,
  SessionWrite,
  SuspectsWrite,
} from "../session/write.ts";
import { candidateChange, segmentRow, takenChanges } from "./candidate-projection.ts";
import { coverChange } from "./redaction-projection.ts";

/** The changes that accompany events: words, checkpoints, progress. */
export function writeChanges(sessionId: string, writes: readonly SessionWrite[]): Change[] {
  const segments = writes.filter((write) => write.type === "SegmentText");
  const proposed = writes.filter((write) => write.type === "CandidateText");
  const taken = writes.filter((write) => write.type === "CandidateTaken");
  // Only the newest checkpoint and progress of a batch matter.
  const checkpoint = writes.findLast((write) => write.type === "Checkpoint");
  const handedOn = writes.filter((write) => write.type === "HandedOn");
  const kept = writes.findLast((write) => write.type === "CheckpointsKept");
  const suspects = writes.findLast((write) => write.type === "Suspects");
  const progress = writes.findLast((write) => write.type === "Progress");
  return [
    ...(segments.length > 0 ? segmentChanges(sessionId, segments) : []),
    ...(proposed.length > 0 ? [candidateChange(sessionId, proposed)] : []),
    ...taken.flatMap((write) => takenChanges(sessionId, write)),
    ...checkpointChanges(sessionId, [...(checkpoint ? [checkpoint] : []), ...handedOn]),
    ...(kept ? [keepCheckpoints(sessionId, kept)] : []),
    ...(suspects ? suspectChanges(sessionId, suspects) : []),
    ...(progress ? [jobProgressed(progress)] : []),
  ];
}

function segmentChanges(sessionId: string, segments: readonly SegmentText[]): Change[] {
  const rows = segments.map(segmentRow);
  const redacted = segments.filter((segment) => segment.redacted === true);
  // Passed as one document, because array elements would be quoted one by one.
  const insert: Change["sql"] = (when) => sql.fragment`
    insert into segments (
      session_id, language,
      id, attempt, start_sample, end_sample, label, text, words, confidence, redacted,
      speaker_confidence, overlapping)
    select session.id, session.language, s.*
    from sessions as session, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s (
      id uuid, attempt integer, start_sample bigint, end_sample bigint, label text,
      text text, words jsonb, confidence real, redacted boolean, speaker_confidence real,
      overlapping jsonb)
    where session.id = ${sessionId} and ${when}
    on conflict (session_id, id) do update
    set end_sample = excluded.end_sample, label = excluded.label, text = excluded.text,
        words = excluded.words, confidence = excluded.confidence,
        speaker_confidence = excluded.speaker_confidence, overlapping = excluded.overlapping`;
  return [
    { writes: ["segments"], sql: insert },
    ...coverChange(
      sessionId,
      redacted.map(({ segmentId }) => segmentId),
    ),
  ];
}

/** Stores checkpoints; those no longer needed are deleted once all of the batch are stored. */
function checkpointChanges(
  sessionId: string,
  writes: readonly (CheckpointWrite | HandedOnWrite)[],
): Change[] {
  const newest = writes.at(-1);
  if (newest === undefined) return [];
  const written: number[] = [];
  const changes = writes.flatMap((write) => {
    const checkpoints = write.type === "Checkpoint" ? [write] : write.checkpoints;
    written.push(...checkpoints.map(({ position }) => position));
    const inserts = checkpoints.map((each) => insertCheckpoint(sessionId, write.attempt, each));
    return write.type === "HandedOn" ? [forgetBetween(sessionId, write), ...inserts] : inserts;
  });
  const keep = [...written, ...writes.flatMap((write) => write.keep)];
  const kept = { attempt: newest.attempt, keep };
  // The single checkpoint of a final needs no second statement.
  const isAlone = newest.type === "Checkpoint";
  return [...changes, keepCheckpoints(sessionId, kept, isAlone ? newest.position : undefined)];
}

function forgetBetween(sessionId: string, { attempt, from, to }: HandedOnWrite): Change {
  return {
    writes: ["checkpoints"],
    sql: (when) => sql.fragment`
      delete from checkpoints
      where session_id = ${sessionId} and attempt = ${attempt}
        and position > ${from} and position < ${to} and ${when}`,
  };
}

function insertCheckpoint(
  sessionId: string,
  attempt: number,
  { position, recogniser, speakers, voices }: HandedOnWrite["checkpoints"][number],
): Change {
  const [state, store] = [recogniser, speakers].map((bytes) => sql.binary(Buffer.from(bytes)));
  return {
    writes: ["checkpoints"],
    sql: (when) => sql.fragment`
      insert into checkpoints (session_id, attempt, position, recogniser, speakers, voices)
      select ${sessionId}::uuid, ${attempt}::int, ${position}::int8, ${state ?? null}::bytea,
        ${store ?? null}::bytea, ${sql.jsonb(voices)}
      where ${when}
      on conflict (session_id, attempt, position) do update
      set recogniser = excluded.recogniser, speakers = excluded.speakers,
          voices = excluded.voices, at = now()`,
  };
}

/**
 * Deletes checkpoints, except the newest at or before each position of `keep`. `written` is the
 * position of a checkpoint that the same statement inserts, which its deletion cannot see.
 */
function keepCheckpoints(
  sessionId: string,
  { attempt, keep }: Pick<CheckpointsLimitWrite, "attempt" | "keep">,
  written?: number,
): Change {
  const all: FragmentSqlToken = sql.fragment`
    select c.position from checkpoints as c
    where c.session_id = ${sessionId} and c.attempt = ${attempt}`;
  const these = sql.array(written === undefined ? [] : [written], "int8");
  return {
    writes: ["checkpoints, old"],
    reads: written === undefined ? ["checkpoints"] : [],
    sql: (when) => sql.fragment`
      delete from checkpoints
      where session_id = ${sessionId} and attempt = ${attempt} and ${when}
        and position <> all(${these})
        and position not in (
          select found.position from unnest(${sql.array([...keep], "int8")}) as k (point)
          cross join lateral (
            select c.position from (${all} union select unnest(${these})) as c
            where c.position <= k.point order by c.position desc limit 1) as found)`,
  };
}

function suspectChanges(sessionId: string, { attempt, suspects }: SuspectsWrite): Change[] {
  const rows = suspects.map(({ sequence, breaks, position }) => [sequence, breaks, position]);
  return [
    {
      writes: ["suspects"],
      sql: (when) => sql.fragment`
        delete from suspects
        where session_id = ${sessionId} and attempt = ${attempt} and ${when}`,
    },
    {
      writes: ["suspects"],
      sql: (when) => sql.fragment`
        insert into suspects (session_id, attempt, sequence, breaks, position)
        select ${sessionId}::uuid, ${attempt}::int, s.*
        from ${sql.unnest(rows, ["int4", "int4", "int8"])} as s (sequence, breaks, position)
        where ${when}`,
    },
  ];
}
