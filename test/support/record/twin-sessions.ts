import { AppError } from "../../../src/base/errors.ts";
import type {
  DeviceSessionStore,
  OwnerStopRequest,
  RecordingWorkspace,
  StopRequest,
} from "../../../src/conversations/recording/device-sessions-store.ts";
import type { NewSession } from "../../../src/conversations/sessions/session-rows-store.ts";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import { MAX_MISSING } from "../../../src/session/limits.ts";
import type { SessionPhase } from "../../../src/session/status.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { SessionRow } from "./rows.ts";
import { highestSequence, outboxRow, writeOutbox } from "./twin-chunks.ts";
import type { TwinParts } from "./twin-journal.ts";

/** Starts and stops of sessions over tables in memory. */
export class TwinSessions implements DeviceSessionStore {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  deviceExists(deviceId: string): Promise<boolean> {
    const { client, t } = this.#parts;
    return client.query((s) => s.get(t.devices, deviceId) !== undefined);
  }

  /** Nobody owns the devices of these tables, who could let them. */
  mayRead(): Promise<boolean> {
    return Promise.resolve(false);
  }

  recording(deviceId: string): Promise<string | undefined> {
    const { client, t } = this.#parts;
    return client.query(
      (s) =>
        s.all(t.sessions).find((row) => row.device_id === deviceId && row.status === "recording")
          ?.id,
    );
  }

  async workspace(): Promise<RecordingWorkspace> {
    return { preferredLanguage: "en", remoteEngines: false, isMember: true, mayRecord: true };
  }

  start(session: NewSession): Promise<{ startedAt: number; outbox: OutboxRow[] }> {
    const { client, t, newId } = this.#parts;
    return client.transaction(async (tx) => {
      const startedAt = await insertSession(tx, t, session);
      await insertJob(tx, t, session);
      const { jobId, language } = session;
      const row = outboxRow(newId(), session.id, { type: "Start", jobId, language });
      await tx.run((s) => writeOutbox(s, t, row));
      return { startedAt, outbox: [row] };
    });
  }

  stop(
    request: StopRequest | OwnerStopRequest,
  ): Promise<{ sessionId: string; status: SessionPhase; outbox: OutboxRow[] }> {
    const { client, t, newId } = this.#parts;
    return client.transaction(async (tx) => {
      const { id, status, last_chunk_sequence: recorded } = await lockSession(tx, t, request);
      const { lastSequence: wanted } = request;
      if (status !== "recording") {
        assertSameEnd(recorded, wanted);
        return { sessionId: id, status, outbox: [] };
      }
      const highest = await tx.run((s) => highestSequence(s, t, id));
      if (wanted !== undefined && wanted > highest + MAX_MISSING) {
        throw new AppError("conflict", `last_chunk_sequence ${wanted} cannot be.`);
      }
      const { reason } = request;
      await tx.run((s) =>
        s.update(t.sessions, id, () => ({
          status: "processing" as const,
          stopped_at: s.now,
          last_chunk_sequence: wanted ?? null,
          stop_reason: reason ?? null,
          updated_at: s.now,
        })),
      );
      const lastSequence = Math.max(wanted ?? -1, highest);
      const row = outboxRow(newId(), id, {
        type: "Stop",
        lastSequence,
        ...(reason && { reason }),
      });
      await tx.run((s) => writeOutbox(s, t, row));
      return { sessionId: id, status: "processing", outbox: [row] };
    });
  }
}

async function insertSession(
  tx: Conversation,
  t: RecordTables,
  session: NewSession,
): Promise<number> {
  return tx.run(async (s) => {
    // As the unique index does: who comes second waits for what becomes of the first.
    if (session.deviceId !== undefined) await s.advisory(`recording:${session.deviceId}`);
    const running = s
      .next()
      .all(t.sessions)
      .find((row) => row.device_id === session.deviceId && row.status === "recording");
    if (session.deviceId !== undefined && running !== undefined) {
      const which = `Session ${running.id}`;
      throw new AppError("already_recording", `${which} is already recording on this device.`);
    }
    await s.insertNew(t.sessions, toRow(session, s.now));
    return s.now;
  });
}

function toRow(session: NewSession, now: number): SessionRow {
  return {
    id: session.id,
    workspace_id: session.workspaceId,
    owner_id: session.ownerId,
    device_id: session.deviceId ?? null,
    job_id: session.jobId,
    title: session.title,
    language: session.language,
    vocabulary: JSON.stringify(session.vocabulary),
    status: "recording",
    epoch: 0,
    seq: 0,
    has_work: true,
    work_seq: 0,
    last_chunk_sequence: null,
    started_at: now,
    stopped_at: null,
    completed_at: null,
    updated_at: now,
    stop_reason: null,
    failure_reason: null,
  };
}

async function insertJob(tx: Conversation, t: RecordTables, session: NewSession): Promise<void> {
  await tx.run((s) =>
    s.insertNew(t.jobs, {
      id: session.jobId,
      kind: "transcription",
      session_id: session.id,
      workspace_id: session.workspaceId,
      status: "queued",
      progress: 0,
      error: "",
      attempt: 1,
      engine: null,
      detected_language: null,
      forced_language: null,
      diarisation_model_version: null,
      segment_count: 0,
      speaker_count: null,
      duration_ms: null,
      avg_confidence: null,
      created_at: s.now,
      started_at: null,
      completed_at: null,
    }),
  );
}

/** The named session, else the one that records, else the newest; locked. */
async function lockSession(
  tx: Conversation,
  t: RecordTables,
  { sessionId, deviceId }: StopRequest | OwnerStopRequest,
): Promise<SessionRow> {
  const isIt = (row: SessionRow) =>
    row.status !== "deleted" &&
    (sessionId === undefined || row.id === sessionId) &&
    (deviceId === undefined || row.device_id === deviceId);
  const row = await tx.run((s) => {
    const found = s.all(t.sessions).filter(isIt);
    const isRecording = ({ status }: SessionRow) => Number(status === "recording");
    const [first] = found.sort((a, b) => isRecording(b) - isRecording(a) || (a.id < b.id ? 1 : -1));
    return first && s.lock(t.sessions, first.id, "update", isIt);
  });
  if (row !== undefined) return row;
  throw new AppError("not_found", "This device has no session to stop.");
}

function assertSameEnd(recorded: number | null, wanted: number | undefined): void {
  if (recorded === null || wanted === undefined || recorded === wanted) return;
  throw new AppError(
    "conflict",
    `The session was stopped with last_chunk_sequence ${recorded}; that cannot be changed.`,
  );
}
