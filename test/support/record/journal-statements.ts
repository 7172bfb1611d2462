import { isDeepStrictEqual } from "node:util";
import type { Batch, CommandOutcome, Loaded, LoadFrom } from "../../../src/actor/journal.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import { REDACTED_SPAN } from "../../../src/session/redaction.ts";
import { SNAPSHOT_VERSION } from "../../../src/session/snapshot.ts";
import type {
  CheckpointsLimitWrite,
  CheckpointWrite,
  HandedOnWrite,
  SegmentText,
  SessionWrite,
  SuspectsWrite,
} from "../../../src/session/write.ts";
import { databaseError } from "./database-error.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { ChunkRow, RedactionRow, SegmentRow, SessionRow, SnapshotRow } from "./rows.ts";
import type { Statement } from "./statement.ts";

export type SessionBatch = Batch<SessionEvent, SessionWrite>;
export type SessionPast = Loaded<SessionEvent>;

const OUTCOMES_KEPT = 25 * 3_600_000;
const MOST_OUTCOMES = 4_096;

/** As a column of four bytes gives it back. */
export function toReal(value: number): number {
  const real = Math.fround(value);
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(real.toPrecision(digits));
    if (Math.fround(short) === real) return short;
  }
  return Number(real.toPrecision(9));
}

/** To whole milliseconds, as through a column of microseconds. */
export function toMilliseconds(at: number): number {
  return Math.floor(Math.round(at * 1e3) / 1e3);
}

export function readPast(
  s: Statement,
  t: RecordTables,
  id: string,
  from: LoadFrom,
): Pick<SessionPast, "now" | "snapshot" | "events" | "outcomes"> {
  const newest = from === "snapshot" ? ownSnapshot(s, t, id) : undefined;
  const known = newest?.seq ?? 0;
  const events = s
    .all(t.events, id)
    .filter(({ seq }) => seq > known)
    .sort((a, b) => a.seq - b.seq)
    .map(({ seq, at, payload }) => ({ seq, at, event: JSON.parse(payload) as SessionEvent }));
  return {
    now: s.clock,
    snapshot: newest && {
      seq: newest.seq,
      state: JSON.parse(newest.state) as unknown,
    },
    events,
    outcomes: knownOutcomes(s, t, id),
  };
}

/** That this release can read. */
function ownSnapshot(s: Statement, t: RecordTables, id: string): SnapshotRow | undefined {
  return s.all(t.snapshots, id).find(({ version }) => version === SNAPSHOT_VERSION);
}

function knownOutcomes(s: Statement, t: RecordTables, id: string): CommandOutcome[] {
  return s
    .all(t.outcomes, id)
    .filter(({ at }) => at > s.now - OUTCOMES_KEPT)
    .sort((a, b) => a.at - b.at || (a.command_id < b.command_id ? -1 : 1))
    .slice(-MOST_OUTCOMES)
    .map((row) => ({ commandId: row.command_id, outcome: JSON.parse(row.outcome) }));
}

/** The session's row while it is as the activation knows it. */
function asKnown({ epoch, expectedSeq }: SessionBatch): (row: SessionRow) => boolean {
  return (row) => row.epoch === epoch && row.seq === expectedSeq && row.status !== "deleted";
}

/** The fence, the events, and the commands that are finished: one statement. */
export async function passFence(
  s: Statement,
  t: RecordTables,
  batch: SessionBatch,
): Promise<{ now: number; tooLate: boolean } | undefined> {
  const { id, epoch, expectedSeq, events, commandIds, deadline, hasWork } = batch;
  const seq = expectedSeq + events.length;
  const told = events.length === 0 ? {} : { seq, updated_at: s.now };
  // Events that come without it leave work open: a trigger sees to that.
  const work = hasWork === undefined ? { has_work: true } : { has_work: hasWork, work_seq: seq };
  const passed =
    events.length === 0 && hasWork === undefined
      ? await s.lock(t.sessions, id, "update", asKnown(batch))
      : await s.update(t.sessions, id, () => ({ ...told, ...work }), asKnown(batch));
  if (passed === undefined) return undefined;
  const now = s.clock;
  for (const event of events) {
    await s.insertNew(t.events, {
      session_id: id,
      seq: event.seq,
      epoch,
      at: toMilliseconds(event.at),
      type: event.event.type,
      payload: JSON.stringify(event.event),
    });
  }
  for (const commandId of commandIds) await s.remove(t.outbox, commandId);
  return { now, tooLate: deadline !== undefined && now > deadline };
}

/** Whether this very batch stands there already: the answer to it got lost. */
export function hasLanded(
  s: Statement,
  t: RecordTables,
  { id, epoch, events }: SessionBatch,
): boolean {
  const isStored = ({ seq, at, event }: SessionBatch["events"][number]): boolean => {
    const row = s.get(t.events, `${id}:${seq}`);
    return (
      row?.epoch === epoch &&
      row.at === toMilliseconds(at) &&
      isDeepStrictEqual(JSON.parse(row.payload), JSON.parse(JSON.stringify(event)))
    );
  };
  return s.get(t.sessions, id)?.epoch === epoch && events.length > 0 && events.every(isStored);
}

/** What goes with events: words, checkpoints, progress. */
export async function storeWrites(
  tx: Conversation,
  t: RecordTables,
  id: string,
  writes: readonly SessionWrite[],
): Promise<void> {
  const segments = writes.filter((write) => write.type === "SegmentText");
  if (segments.length > 0) await storeSegments(tx, t, id, segments);
  const checkpoint = writes.findLast((write) => write.type === "Checkpoint");
  const handedOn = writes.filter((write) => write.type === "HandedOn");
  await storeCheckpoints(tx, t, id, [...(checkpoint ? [checkpoint] : []), ...handedOn]);
  const kept = writes.findLast((write) => write.type === "CheckpointsKept");
  if (kept !== undefined) await keepCheckpoints(tx, t, id, kept);
  const suspects = writes.findLast((write) => write.type === "Suspects");
  if (suspects !== undefined) await storeSuspects(tx, t, id, suspects);
  const progress = writes.findLast((write) => write.type === "Progress");
  if (progress === undefined) return;
  const reached = toReal(progress.progress);
  await tx.run((s) =>
    s.update(t.jobs, progress.jobId, (job) => ({ progress: Math.max(job.progress, reached) })),
  );
}

async function storeSegments(
  tx: Conversation,
  t: RecordTables,
  id: string,
  segments: readonly SegmentText[],
): Promise<void> {
  await tx.run(async (s) => {
    const session = s.get(t.sessions, id);
    if (session === undefined) return;
    if (new Set(segments.map(({ segmentId }) => segmentId)).size < segments.length) {
      throw databaseError("21000");
    }
    for (const segment of segments) {
      const row = toRow(segment, session);
      if (await s.insert(t.segments, row)) continue;
      const { end_sample, label, text, words, confidence, speaker_confidence, overlapping } = row;
      const texts = { label, text, words, confidence };
      const changed = { end_sample, ...texts, speaker_confidence, overlapping };
      s.overwrite(t.segments, row, changed);
    }
  });
  const redacted = segments.filter((segment) => segment.redacted === true);
  const ids = redacted.map(({ segmentId }) => segmentId);
  if (ids.length > 0) await coverStored(tx, t, id, ids);
}

function toRow(segment: SegmentText, { id, language }: SessionRow): SegmentRow {
  const isRedacted = segment.redacted === true;
  return {
    session_id: id,
    id: segment.segmentId,
    attempt: segment.attempt,
    start_sample: segment.start,
    end_sample: segment.end,
    label: segment.label,
    text: isRedacted ? REDACTED_SPAN : segment.words.map(({ text }) => text).join(" "),
    words: JSON.stringify(isRedacted ? [] : segment.words),
    confidence: toReal(segment.confidence),
    speaker_confidence:
      segment.speakerConfidence === undefined ? null : toReal(segment.speakerConfidence),
    overlapping: segment.overlaps?.length ? JSON.stringify(segment.overlaps) : null,
    revision: 1,
    redacted: isRedacted,
    language,
  };
}

/** A span of which nothing was known; the chunks under it are to be silenced. */
export async function insertRedaction(
  s: Statement,
  t: RecordTables,
  row: RedactionRow,
): Promise<void> {
  if (!(await s.insert(t.redactions, row))) return;
  await s.updateAll(
    t.chunks,
    row.session_id,
    (chunk) => isUnder(chunk, row),
    ({ silence_wanted }) => ({ silence_wanted: silence_wanted + 1 }),
  );
}

/** Whether a chunk has its place, and the span touches it there. */
export function isUnder(
  {
    start_sample: start,
    length_samples: length,
  }: Pick<ChunkRow, "start_sample" | "length_samples">,
  span: RedactionRow,
): boolean {
  if (start === null || length === null) return false;
  return start < span.end_sample && start + length > span.start_sample;
}

/** The spans of segments that are in the table. */
export async function coverStored(
  tx: Conversation,
  t: RecordTables,
  id: string,
  segmentIds: readonly string[],
): Promise<void> {
  if (segmentIds.length === 0) return;
  await tx.run(async (s) => {
    for (const segmentId of segmentIds) {
      const segment = s.get(t.segments, `${id}:${segmentId}`);
      if (segment === undefined) continue;
      const { start_sample, end_sample, label } = segment;
      await insertRedaction(s, t, {
        id: segmentId,
        session_id: id,
        start_sample,
        end_sample,
        label,
        created_at: s.now,
      });
    }
  });
}

async function storeCheckpoints(
  tx: Conversation,
  t: RecordTables,
  id: string,
  writes: readonly (CheckpointWrite | HandedOnWrite)[],
): Promise<void> {
  const keep: number[] = [];
  for (const write of writes) {
    const { attempt } = write;
    keep.push(...write.keep);
    if (write.type === "HandedOn") {
      const { from, to } = write;
      const isInside = (at: number): boolean => at > from && at < to;
      await tx.run((s) =>
        s.removeAll(t.checkpoints, id, (row) => row.attempt === attempt && isInside(row.position)),
      );
    }
    for (const each of write.type === "Checkpoint" ? [write] : write.checkpoints) {
      keep.push(each.position);
      await tx.run((s) => storeCheckpoint(s, t, { session_id: id, attempt }, each));
    }
  }
  const attempt = writes.at(-1)?.attempt;
  if (attempt === undefined) return;
  await keepCheckpoints(tx, t, id, { attempt, keep });
}

function keepCheckpoints(
  tx: Conversation,
  t: RecordTables,
  id: string,
  { attempt, keep }: Pick<CheckpointsLimitWrite, "attempt" | "keep">,
): Promise<unknown> {
  return tx.run((s) => {
    const known = s.all(t.checkpoints, id).filter((row) => row.attempt === attempt);
    const kept = keep.map((point) =>
      Math.max(...known.map(({ position }) => position).filter((position) => position <= point)),
    );
    return s.removeAll(
      t.checkpoints,
      id,
      (row) => row.attempt === attempt && !kept.includes(row.position),
    );
  });
}

async function storeCheckpoint(
  s: Statement,
  t: RecordTables,
  key: { session_id: string; attempt: number },
  checkpoint: HandedOnWrite["checkpoints"][number],
): Promise<void> {
  const { position, recogniser, speakers, voices } = checkpoint;
  const state = {
    recogniser: Buffer.from(recogniser),
    speakers: Buffer.from(speakers),
    voices: JSON.stringify(voices),
    at: s.now,
  };
  const row = { ...key, position, ...state };
  if (await s.insert(t.checkpoints, row)) return;
  s.overwrite(t.checkpoints, row, state);
}

async function storeSuspects(
  tx: Conversation,
  t: RecordTables,
  id: string,
  { attempt, suspects }: SuspectsWrite,
): Promise<void> {
  await tx.run((s) => s.removeAll(t.suspects, id, (row) => row.attempt === attempt));
  await tx.run(async (s) => {
    for (const { sequence, breaks, position } of suspects) {
      await s.insertNew(t.suspects, { session_id: id, attempt, sequence, breaks, position });
    }
  });
}

/** Those known already stay as they are; those of the session that are old enough go. */
export async function saveOutcomes(
  s: Statement,
  t: RecordTables,
  id: string,
  outcomes: readonly CommandOutcome[],
): Promise<void> {
  // What goes is still there for what comes in the same statement.
  const known = new Set(s.all(t.outcomes, id).map(({ command_id }) => command_id));
  await s.removeAll(t.outcomes, id, ({ at }) => at <= s.now - OUTCOMES_KEPT);
  for (const { commandId, outcome } of outcomes) {
    if (known.has(commandId)) continue;
    const row = { session_id: id, command_id: commandId, at: s.now };
    await s.insert(t.outcomes, { ...row, outcome: JSON.stringify(outcome) });
  }
}

export async function saveSnapshot(
  s: Statement,
  t: RecordTables,
  { id, expectedSeq, events }: SessionBatch,
  { version, state }: { version: number; state: unknown },
): Promise<void> {
  const seq = expectedSeq + events.length;
  const row = { session_id: id, seq, version, state: JSON.stringify(state), at: s.now };
  if (!(await s.insert(t.snapshots, row))) s.overwrite(t.snapshots, row, row);
  await s.removeAll(t.snapshots, id, (each) => each.version < version - 1);
}
