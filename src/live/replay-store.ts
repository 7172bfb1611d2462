import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { toSeconds } from "../base/audio/sample-rate.ts";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { LookupBatcher } from "../base/lookup-batcher.ts";
import { readSpeakers, USER_DISPLAY_NAME } from "../conversations/sessions/speakers-store.ts";
import { LANGUAGE_WARNING } from "../conversations/sessions/store.ts";
import { OVERLAPS, unclearWords } from "../conversations/transcript/segments-store.ts";
import { overlapsColumn, wordsColumn } from "../conversations/transcript/writing/segment-row.ts";
import { nameColumn } from "../postgres/columns.ts";
import { optionalColumn } from "../postgres/optional-column.ts";
import type { SessionEvent } from "../session/event.ts";
import { deviceStatus } from "../session/presence.ts";
import type { SegmentWords } from "../session/write.ts";
import type {
  DurableFrame,
  HeartbeatFrame,
  SessionHeartbeat,
  SnapshotFrame,
  SnapshotSegment,
} from "../wire/live-frames.ts";
import { warningsOf } from "../wire/session-record.ts";
import { type JournalRecord, overlapMembers, renderFrames } from "./render.ts";

const stateRow = z.object({
  id: z.string(),
  seq: z.number(),
  isRecording: z.boolean(),
  isOver: z.boolean(),
  received: z.number(),
  finalised: z.number(),
  lagMs: z.number(),
  gaps: z.number(),
  lastSeenAt: optionalColumn(z.number()),
  telemetry: optionalColumn(z.record(z.unknown())),
});
type LiveState = z.output<typeof stateRow>;

/** Reads heartbeats of sessions from the database, as their actors send them while active. */
export class RecordedHeartbeat {
  readonly #pool: DatabasePool;
  readonly #clock: Clock;
  readonly #states: LookupBatcher<string, LiveState>;

  constructor(pool: DatabasePool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
    this.#states = new LookupBatcher((ids) => this.#read(ids));
  }

  /**
   * Reads many sessions with one query. Throws `not_found` when there is no such session or it was
   * deleted.
   */
  async read(sessionId: string): Promise<SessionHeartbeat> {
    const row = await this.#states.get(sessionId);
    if (row === undefined) throw new AppError("not_found", "There is no session with this id.");
    const { received, finalised, lagMs, isRecording, isOver, lastSeenAt, telemetry = {} } = row;
    const frame: HeartbeatFrame = {
      type: "Heartbeat",
      session_id: sessionId,
      seq: row.seq,
      audio_received: toSeconds(received),
      audio_finalised: toSeconds(finalised),
      lag_ms: lagMs,
      gaps: row.gaps,
      ...(isRecording &&
        lastSeenAt !== undefined && {
          device: deviceStatus(lastSeenAt, telemetry, this.#clock.now()),
        }),
    };
    return { frame, isOver };
  }

  /**
   * Counts by the ends of the stored chunks and by the gaps, which are few, so the cost does not
   * grow with the session. Every sequence up to the last placed one was stored or is a declared
   * gap.
   */
  async #read(ids: readonly string[]): Promise<(LiveState | undefined)[]> {
    const rows = await this.#pool.any(sql.type(stateRow)`
      select s.id, s.seq, s.status = 'recording' as "isRecording",
        s.status in ('completed', 'failed') as "isOver",
        session_lag_ms(s.id) as "lagMs",
        coalesce(placed.to, 0) as received, coalesce(final.to, 0) as finalised,
        declared.open + greatest(newest.sequence, s.last_chunk_sequence, settled.sequence)
          - settled.sequence - above.held as gaps,
        d.last_seen_at as "lastSeenAt", d.telemetry
      from sessions s
      left join devices d on d.id = s.device_id
      left join lateral (
        select sequence, start_sample + length_samples as to from chunks
        where session_id = s.id and start_sample is not null
        order by start_sample desc, sequence desc limit 1) placed on true
      left join lateral (
        select start_sample + length_samples as to from chunks
        where session_id = s.id and start_sample is not null and status in ('completed', 'failed')
        order by start_sample desc, sequence desc limit 1) final on true
      cross join lateral (
        select count(*) filter (where not exists (
            select from chunks where session_id = s.id and sequence = gap.sequence)) as open,
          max(gap.sequence) as last
        from (
          select (payload ->> 'sequence')::int as sequence from events
          where session_id = s.id and type = 'GapDeclared') gap) declared
      cross join lateral (select greatest(placed.sequence, declared.last, -1) as sequence) settled
      cross join lateral (
        select max(sequence) as sequence from chunks where session_id = s.id) newest
      cross join lateral (
        select count(*) as held from chunks
        where session_id = s.id and sequence > settled.sequence) above
      where s.id = any(${sql.array([...ids], "uuid")}) and s.status <> 'deleted'`);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id));
  }
}

/** Most segments of a snapshot, so that its frame stays small; clients read the rest over REST. */
const SNAPSHOT_SEGMENTS = 500;

interface LiveLogOptions {
  /** Makes a cursor of GET /sessions/{id}/segments that continues after this place. */
  segmentCursor(sessionId: string, position: { start: number; id: string }): string;
}

const nothing = z.object({}).strict();
const eventRow = z.object({
  seq: z.number(),
  at: z.number(),
  payload: z.custom<SessionEvent>((value) => typeof value === "object" && value !== null),
});
const textRow = z.object({
  id: z.string(),
  words: wordsColumn,
  text: z.string(),
  confidence: z.number(),
  overlaps: overlapsColumn,
  revision: z.number(),
});
const nameRow = z.object({ id: z.string(), name: nameColumn });
const sessionRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  title: z.string(),
  status: z.enum(["recording", "processing", "completed", "failed", "deleted"]),
  language: z.string(),
  languageWarning: optionalColumn(z.string()),
  engine: optionalColumn(z.string()),
  soundLeaves: z.boolean(),
  seq: z.number(),
  seqAt: optionalColumn(z.number()),
  startedAt: z.number(),
  stoppedAt: optionalColumn(z.number()),
});
const segmentRow = z.object({
  id: z.string(),
  start: z.number(),
  end: z.number(),
  label: z.string(),
  text: z.string(),
  confidence: z.number(),
  speakerConfidence: optionalColumn(z.number()),
  overlaps: overlapsColumn,
  revision: z.number(),
  unclearWords: z.array(z.number()),
});

/** Reads frames for replays, and snapshots, from the journal and the segments. */
export class LiveLog {
  readonly #pool: DatabasePool;
  readonly #options: LiveLogOptions;

  constructor(pool: DatabasePool, options: LiveLogOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Durable frames after `fromSeq`, at most `limit`, in order. */
  async replay(sessionId: string, fromSeq: number, limit: number): Promise<DurableFrame[]> {
    const rows = await this.#pool.any(sql.type(eventRow)`
      select seq, at, payload
      from events
      where session_id = ${sessionId} and seq > ${fromSeq}
      order by seq
      limit ${limit}
    `);
    return this.render(
      sessionId,
      rows.map(({ seq, at, payload }) => ({ seq, at, event: payload })),
    );
  }

  /** Renders events, after looking up their words and names. */
  async render(sessionId: string, records: readonly JournalRecord[]): Promise<DurableFrame[]> {
    const texts = await readTexts(this.#pool, sessionId, records);
    const names = await readDisplayNames(this.#pool, namedPeople(records));
    return renderFrames(sessionId, records, texts, names);
  }

  /**
   * The session at one seq, read in one transaction. Throws `not_found` when there is no such
   * session or it was deleted.
   */
  snapshot(sessionId: string): Promise<SnapshotFrame> {
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.type(nothing)`set transaction isolation level repeatable read, read only`);
      const session = await readSession(tx, sessionId);
      const { segments, next } = await readSegments(tx, sessionId);
      const frame: SnapshotFrame = {
        type: "Snapshot",
        session_id: sessionId,
        seq: session.seq,
        ...(session.seqAt !== undefined && { seq_at: new Date(session.seqAt).toISOString() }),
        session: presentSession(session),
        speakers: await speakerFrames(tx, sessionId),
        segments,
      };
      if (next !== undefined) {
        frame.segments_cursor = this.#options.segmentCursor(sessionId, next);
      }
      return frame;
    });
  }
}

async function readTexts(
  connection: CommonQueryMethods,
  sessionId: string,
  records: readonly JournalRecord[],
): Promise<Map<string, SegmentWords>> {
  const ids = records.flatMap(({ event }) =>
    event.type === "SegmentFinalised" || event.type === "SegmentRevised" ? [event.segmentId] : [],
  );
  if (ids.length === 0) return new Map();
  const rows = await connection.any(sql.type(textRow)`
    select id, words, text, confidence, revision, ${OVERLAPS} as "overlaps"
    from segments
    where session_id = ${sessionId} and id = any(${sql.array(ids, "uuid")})
  `);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Ids of the users, guests and free names that the frames show. */
function namedPeople(records: readonly JournalRecord[]): string[] {
  const ids = records.flatMap(({ event }) => {
    if (event.type === "SpeakerClaimed") return [event.claimedUserId];
    if (event.type === "SpeakerNamed") return event.nameId === undefined ? [] : [event.nameId];
    return event.type === "GuestJoined" ? [event.guestId] : [];
  });
  return [...new Set(ids)];
}

/** Names of users and guests, and free names, by id. */
async function readDisplayNames(
  connection: CommonQueryMethods,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const wanted = sql.array(ids, "uuid");
  const rows = await connection.any(sql.type(nameRow)`
    select u.id, u.name from users u where u.id = any(${wanted}) and ${USER_DISPLAY_NAME} is not null
    union all
    select g.id, g.display_name as name from guests g where g.id = any(${wanted})
    union all
    select n.id, n.display_name as name from speaker_names n where n.id = any(${wanted})
  `);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

async function readSession(
  tx: CommonQueryMethods,
  sessionId: string,
): Promise<z.output<typeof sessionRow>> {
  const row = await tx.maybeOne(sql.type(sessionRow)`
    select
      id,
      workspace_id as "workspaceId",
      title,
      status,
      language,
      ${LANGUAGE_WARNING} as "languageWarning",
      (select j.engine from jobs j where j.id = s.job_id) as engine,
      coalesce((select j.sound_leaves from jobs j where j.id = s.job_id), false) as "soundLeaves",
      seq,
      (select e.at from events e where e.session_id = s.id and e.seq = s.seq) as "seqAt",
      started_at as "startedAt",
      stopped_at as "stoppedAt"
    from sessions s
    where id = ${sessionId} and status <> 'deleted'
  `);
  if (row === null) throw new AppError("not_found", "There is no session with this id.");
  return row;
}

function presentSession(row: z.output<typeof sessionRow>): SnapshotFrame["session"] {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    title: row.title,
    status: row.status,
    language: row.language,
    engine: row.engine,
    ...(row.soundLeaves ? { sound_leaves: true } : {}),
    warnings: warningsOf(row.languageWarning),
    started_at: new Date(row.startedAt).toISOString(),
    stopped_at: row.stoppedAt === undefined ? undefined : new Date(row.stoppedAt).toISOString(),
  };
}

async function readSegments(
  tx: CommonQueryMethods,
  sessionId: string,
): Promise<{ segments: SnapshotSegment[]; next: { start: number; id: string } | undefined }> {
  const rows = await tx.any(sql.type(segmentRow)`
    select
      id, start_sample as start, end_sample as "end", label, text, confidence,
      speaker_confidence as "speakerConfidence", revision, ${OVERLAPS} as "overlaps",
      ${unclearWords(sql.fragment`words`)} as "unclearWords"
    from segments
    where session_id = ${sessionId}
    order by start_sample, id
    limit ${SNAPSHOT_SEGMENTS + 1}
  `);
  const shown = rows.slice(0, SNAPSHOT_SEGMENTS);
  const segments = shown.map((row) => ({
    segment_id: row.id,
    revision: row.revision,
    start: toSeconds(row.start),
    duration: toSeconds(row.end - row.start),
    transcript: row.text,
    confidence: row.confidence,
    speaker: row.label,
    speaker_confidence: row.speakerConfidence ?? null,
    ...overlapMembers(row.overlaps),
    ...(row.unclearWords.length > 0 ? { unclear_words: row.unclearWords } : {}),
  }));
  return { segments, next: rows.length > SNAPSHOT_SEGMENTS ? shown.at(-1) : undefined };
}

async function speakerFrames(
  tx: CommonQueryMethods,
  sessionId: string,
): Promise<SnapshotFrame["speakers"]> {
  const speakers = await readSpeakers(tx, sessionId);
  return speakers.map((speaker) => ({
    speaker_label: speaker.label,
    claimed_user_id: speaker.claimedUserId,
    display_name: speaker.displayName,
    free_name: speaker.freeName,
    source: speaker.source,
  }));
}
