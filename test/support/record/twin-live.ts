import { AppError } from "../../../src/base/errors.ts";
import { type JournalRecord, renderFrames, toSeconds } from "../../../src/live/render.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import { deviceStatus } from "../../../src/session/presence.ts";
import type { SegmentWords } from "../../../src/session/write.ts";
import type {
  DurableFrame,
  HeartbeatFrame,
  SessionHeartbeat,
  SnapshotFrame,
  SnapshotSegment,
} from "../../../src/wire/live-frames.ts";
import { wordsOf } from "./projections.ts";
import type { RecordTables } from "./record-tables.ts";
import type { SegmentRow, SessionRow } from "./rows.ts";
import type { LiveRecord } from "./sim-record.ts";
import type { Statement } from "./statement.ts";
import type { TwinParts } from "./twin-journal.ts";

const SNAPSHOT_SEGMENTS = 500;

/** What viewers replay, and where they begin, over tables in memory. */
export class TwinLive implements LiveRecord {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  async replay(sessionId: string, fromSeq: number, limit: number): Promise<DurableFrame[]> {
    const { client, t } = this.#parts;
    const records = await client.query((s) =>
      s
        .all(t.events, sessionId)
        .filter(({ seq }) => seq > fromSeq)
        .sort((a, b) => a.seq - b.seq)
        .slice(0, limit)
        .map(({ seq, at, payload }) => ({ seq, at, event: JSON.parse(payload) as SessionEvent })),
    );
    return this.render(sessionId, records);
  }

  async render(sessionId: string, records: readonly JournalRecord[]): Promise<DurableFrame[]> {
    const { client, t } = this.#parts;
    const ids = records.flatMap(({ event }) =>
      event.type === "SegmentFinalised" || event.type === "SegmentRevised" ? [event.segmentId] : [],
    );
    const users = records.flatMap(({ event }) =>
      event.type === "SpeakerClaimed" ? [event.claimedUserId] : [],
    );
    const texts =
      ids.length === 0
        ? new Map<string, SegmentWords>()
        : await client.query((s) => readTexts(s, t, sessionId, ids));
    const names =
      users.length === 0
        ? new Map<string, string>()
        : await client.query((s) => readNames(s, t, users));
    return renderFrames(sessionId, records, texts, names);
  }

  /** Read from one state of the tables. */
  snapshot(sessionId: string): Promise<SnapshotFrame> {
    const { client, t } = this.#parts;
    return client.transaction(
      async (tx) => {
        const session = await tx.run((s) => s.get(t.sessions, sessionId));
        if (session === undefined || session.status === "deleted") throw notFound();
        const job = await tx.run((s) => s.get(t.jobs, session.job_id));
        const segments = await tx.run((s) => inOrder(s.all(t.segments, sessionId)));
        const speakers = await tx.run((s) => readSpeakers(s, t, sessionId));
        const newest = await tx.run((s) =>
          s.all(t.events, sessionId).find(({ seq }) => seq === session.seq),
        );
        return {
          type: "Snapshot",
          session_id: sessionId,
          seq: session.seq,
          ...(newest !== undefined && { seq_at: new Date(newest.at).toISOString() }),
          session: presentSession(session, job?.engine),
          speakers,
          segments: segments.slice(0, SNAPSHOT_SEGMENTS).map(presentSegment),
        };
      },
      { repeatable: true, readOnly: true },
    );
  }

  beat(sessionId: string): Promise<SessionHeartbeat> {
    const { client, t } = this.#parts;
    return client.query((s) => {
      const session = s.get(t.sessions, sessionId);
      if (session === undefined || session.status === "deleted") throw notFound();
      const chunks = s.all(t.chunks, sessionId);
      const ends = chunks.flatMap(({ start_sample: start, length_samples: length, status }) =>
        start === null || length === null ? [] : [{ end: start + length, status }],
      );
      const finalised = ends.filter(({ status }) => status === "completed" || status === "failed");
      const highest = Math.max(
        -1,
        session.last_chunk_sequence ?? -1,
        ...chunks.map(({ sequence }) => sequence),
      );
      const device = s.get(t.devices, session.device_id ?? "");
      const { status } = session;
      const lastSeenAt = device?.last_seen_at;
      const telemetry = JSON.parse(device?.telemetry ?? "{}") as Record<string, unknown>;
      const frame: HeartbeatFrame = {
        type: "Heartbeat",
        session_id: sessionId,
        seq: session.seq,
        audio_received: toSeconds(Math.max(0, ...ends.map(({ end }) => end))),
        audio_finalised: toSeconds(Math.max(0, ...finalised.map(({ end }) => end))),
        lag_ms: lagOf(s, t, sessionId),
        gaps: highest + 1 - chunks.length,
        ...(status === "recording" &&
          typeof lastSeenAt === "number" && {
            device: deviceStatus(lastSeenAt, telemetry, s.now),
          }),
      };
      return { frame, isOver: status === "completed" || status === "failed" };
    });
  }
}

function notFound(): AppError {
  return new AppError("not_found", "There is no session with this id.");
}

/** The length of the audio that is stored and was not read yet. */
function lagOf(s: Statement, t: RecordTables, sessionId: string): number {
  const readTo = s.get(t.positions, sessionId)?.read_to ?? 0;
  const gaps = new Set(
    s
      .all(t.events, sessionId)
      .filter(({ type }) => type === "GapDeclared")
      .map(({ payload }) => (JSON.parse(payload) as { sequence: number }).sequence),
  );
  const waiting = s
    .all(t.chunks, sessionId)
    .filter(({ status }) => status === "pending" || status === "processing")
    .map((chunk) => {
      const { start_sample: start, length_samples: length, sequence } = chunk;
      const isPlaced = chunk.status === "processing" && start !== null && length !== null;
      if (!isPlaced || gaps.has(sequence)) return chunk.duration_seconds * 1_000;
      return Math.max(0, start + length - Math.max(start, readTo)) / 16;
    });
  return Math.round(waiting.reduce((sum, ms) => sum + ms, 0));
}

function readTexts(
  s: Statement,
  t: RecordTables,
  sessionId: string,
  ids: readonly string[],
): Map<string, SegmentWords> {
  const texts = new Map<string, SegmentWords>();
  for (const id of ids) {
    const row = s.get(t.segments, `${sessionId}:${id}`);
    if (row === undefined) continue;
    const { text, confidence, revision } = row;
    texts.set(id, { words: wordsOf(row), text, confidence, revision });
  }
  return texts;
}

function readNames(s: Statement, t: RecordTables, ids: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const id of ids) {
    const user = s.get(t.users, id);
    if (user !== undefined && user.name !== "") names.set(id, user.name);
  }
  return names;
}

export function inOrder(segments: SegmentRow[]): SegmentRow[] {
  return segments.sort((a, b) => a.start_sample - b.start_sample || (a.id < b.id ? -1 : 1));
}

function presentSession(
  row: SessionRow,
  engine: string | null | undefined,
): SnapshotFrame["session"] {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    title: row.title,
    status: row.status,
    language: row.language,
    engine: engine ?? undefined,
    started_at: new Date(row.started_at).toISOString(),
    stopped_at: row.stopped_at === null ? undefined : new Date(row.stopped_at).toISOString(),
  };
}

function presentSegment(row: SegmentRow): SnapshotSegment {
  const unclear = wordsOf(row).flatMap((word, index) => (word.unclear === true ? [index] : []));
  return {
    segment_id: row.id,
    revision: row.revision,
    start: toSeconds(row.start_sample),
    duration: toSeconds(row.end_sample - row.start_sample),
    transcript: row.text,
    confidence: row.confidence,
    speaker: row.label,
    speaker_confidence: row.speaker_confidence,
    ...(unclear.length > 0 ? { unclear_words: unclear } : {}),
  };
}

/** Labels with their current claims: by number, unknown last. */
function readSpeakers(s: Statement, t: RecordTables, sessionId: string): SnapshotFrame["speakers"] {
  const claims = s.all(t.claims, sessionId).filter(({ revoked_at: at }) => at === null);
  const labels = new Set([
    ...s.all(t.segments, sessionId).map(({ label }) => label),
    ...claims.map(({ label }) => label),
  ]);
  return [...labels]
    .sort((a, b) => labelNumber(a) - labelNumber(b))
    .map((label) => {
      const claim = claims.find((row) => row.label === label);
      const { claimed_user_id: userId, source } = claim ?? {};
      return {
        speaker_label: label,
        claimed_user_id: userId,
        display_name: userId === undefined ? undefined : readNames(s, t, [userId]).get(userId),
        source,
      };
    });
}

function labelNumber(label: string): number {
  const number = /^S(\d+)$/.exec(label)?.[1];
  return number === undefined ? Number.POSITIVE_INFINITY : Number(number);
}
