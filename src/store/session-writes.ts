import { type DatabaseTransactionConnection, sql } from "slonik";
import { REDACTED_SPAN } from "../session/placeholders.ts";
import type {
  CheckpointsKeptWrite,
  CheckpointWrite,
  HandedOnWrite,
  SegmentText,
  SessionWrite,
  SuspectsWrite,
} from "../session/write.ts";
import { coverSegments } from "./redaction-projection.ts";

/** Stores what goes with events: words, checkpoints, progress. */
export async function storeWrites(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  writes: readonly SessionWrite[],
): Promise<void> {
  const segments = writes.filter((write) => write.type === "SegmentText");
  if (segments.length > 0) await storeSegments(tx, sessionId, segments);
  // Only the newest checkpoint and progress of a batch matter.
  const checkpoint = writes.findLast((write) => write.type === "Checkpoint");
  const handedOn = writes.filter((write) => write.type === "HandedOn");
  await storeCheckpoints(tx, sessionId, [...(checkpoint ? [checkpoint] : []), ...handedOn]);
  const kept = writes.findLast((write) => write.type === "CheckpointsKept");
  if (kept !== undefined) await keepCheckpoints(tx, sessionId, kept);
  const suspects = writes.findLast((write) => write.type === "Suspects");
  if (suspects !== undefined) await storeSuspects(tx, sessionId, suspects);
  const progress = writes.findLast((write) => write.type === "Progress");
  if (progress === undefined) return;
  await tx.query(sql.unsafe`
    update jobs set progress = greatest(progress, ${progress.progress}::real)
    where id = ${progress.jobId}`);
}

async function storeSegments(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  segments: readonly SegmentText[],
): Promise<void> {
  const rows = segments.map((segment) => ({
    id: segment.segmentId,
    attempt: segment.attempt,
    start_sample: segment.start,
    end_sample: segment.end,
    label: segment.label,
    text: segment.redacted ? REDACTED_SPAN : segment.words.map((word) => word.text).join(" "),
    words: segment.redacted ? [] : segment.words,
    confidence: segment.confidence,
    redacted: segment.redacted === true,
  }));
  // As one document: arrays would be quoted element by element.
  await tx.query(sql.unsafe`
    insert into segments (
      session_id, language,
      id, attempt, start_sample, end_sample, label, text, words, confidence, redacted)
    select session.id, session.language, s.*
    from sessions as session, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s (
      id uuid, attempt integer, start_sample bigint, end_sample bigint, label text,
      text text, words jsonb, confidence real, redacted boolean)
    where session.id = ${sessionId}
    on conflict (session_id, id) do update
    set end_sample = excluded.end_sample, label = excluded.label, text = excluded.text,
        words = excluded.words, confidence = excluded.confidence`);
  const redacted = segments.filter((segment) => segment.redacted === true);
  if (redacted.length > 0) await coverSegments(tx, sessionId, redacted);
}

/** What is not needed any more goes when all of the batch are there. */
async function storeCheckpoints(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  writes: readonly (CheckpointWrite | HandedOnWrite)[],
): Promise<void> {
  const written: number[] = [];
  for (const write of writes) {
    const checkpoints = write.type === "Checkpoint" ? [write] : write.checkpoints;
    if (write.type === "HandedOn") {
      await tx.query(sql.unsafe`
        delete from checkpoints
        where session_id = ${sessionId} and attempt = ${write.attempt}
          and position > ${write.from} and position < ${write.to}`);
    }
    for (const { position, recogniser, speakers, voices } of checkpoints) {
      written.push(position);
      await tx.query(sql.unsafe`
        insert into checkpoints (session_id, attempt, position, recogniser, speakers, voices)
        values (${sessionId}, ${write.attempt}, ${position}, ${sql.binary(Buffer.from(recogniser))},
                ${sql.binary(Buffer.from(speakers))}, ${sql.jsonb(voices)})
        on conflict (session_id, attempt, position) do update
        set recogniser = excluded.recogniser, speakers = excluded.speakers,
            voices = excluded.voices, at = now()`);
    }
  }
  const newest = writes.at(-1);
  if (newest === undefined) return;
  const keep = [...written, ...writes.flatMap((write) => write.keep)];
  await keepCheckpoints(tx, sessionId, { attempt: newest.attempt, keep });
}

/** Of all checkpoints the newest at or before each of these stays. */
async function keepCheckpoints(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { attempt, keep }: Pick<CheckpointsKeptWrite, "attempt" | "keep">,
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from checkpoints
    where session_id = ${sessionId} and attempt = ${attempt} and position not in (
      select found.position from unnest(${sql.array(keep, "int8")}) as k (point)
      cross join lateral (
        select c.position from checkpoints as c
        where c.session_id = ${sessionId} and c.attempt = ${attempt} and c.position <= k.point
        order by c.position desc limit 1) as found)`);
}

async function storeSuspects(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { attempt, suspects }: SuspectsWrite,
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from suspects where session_id = ${sessionId} and attempt = ${attempt}`);
  const rows = suspects.map(({ sequence, breaks, position }) => [sequence, breaks, position]);
  await tx.query(sql.unsafe`
    insert into suspects (session_id, attempt, sequence, breaks, position)
    select ${sessionId}, ${attempt}, s.*
    from ${sql.unnest(rows, ["int4", "int4", "int8"])} as s (sequence, breaks, position)`);
}
