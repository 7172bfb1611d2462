import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { type Runtime, systemRuntime } from "../../base/runtime.ts";
import { type Ceilings, NO_CEILINGS } from "../../postgres/ceilings.ts";
import { toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import { MAX_MISSING } from "../../session/limits.ts";
import type { SessionPhase, StopReason } from "../../session/status.ts";
import type { OtherTables } from "../context.ts";
import { queueTranscription } from "../jobs/transcription-jobs-store.ts";
import { orTaken } from "../sessions/external-ids-store.ts";
import { beginRecording, type NewSession, stopRecording } from "../sessions/session-rows-store.ts";
import { highestSequence } from "./stream-store.ts";

export interface StopRequest {
  deviceId: string;
  /** When undefined: the recording session, else the newest. */
  sessionId: string | undefined;
  /** Only sessions that started before, Unix milliseconds. */
  begunBefore?: number | undefined;
  lastSequence: number | undefined;
  /** Set when the service stops the session by itself. */
  reason?: StopReason;
}

/** A stop by the session's owner, whichever device records it. */
export interface OwnerStopRequest {
  deviceId: undefined;
  sessionId: string;
  begunBefore?: undefined;
  lastSequence: number | undefined;
  /** A whole file that is stored, or never will be: the recording does not wait for it. */
  exceptUpload?: string;
  /** Set when the service stops the session by itself. */
  reason?: StopReason;
}

export interface RecordingWorkspace {
  preferredLanguage: string;
  /** Whether its owner allows engines to which the sound leaves the installation. */
  remoteEngines: boolean;
  isMember: boolean;
  /** True for members and administrators who are not disabled. */
  mayRecord: boolean;
}

/** Port: starts and stops sessions. Every method throws `unavailable` when storage is away. */
export interface DeviceSessionStore {
  deviceExists(deviceId: string): Promise<boolean>;
  /** Whether the device may read the words of this session of its owner, which it records. */
  mayRead(deviceId: string, sessionId: string): Promise<boolean>;
  /** The id of the session that the device is recording. */
  recording(deviceId: string): Promise<string | undefined>;
  /** Looks up a workspace; undefined when there is none. */
  workspace(workspaceId: string, userId: string): Promise<RecordingWorkspace | undefined>;
  /**
   * Creates the session, its transcription job and the command to its actor in one transaction.
   * Throws `already_recording` with the running session's id in its message, `quota_exceeded` when
   * its workspace or owner has no room for another, `external_id_taken`, `not_found` when the
   * workspace was deleted meanwhile.
   */
  start(session: NewSession): Promise<{ startedAt: number; outbox: OutboxRow[] }>;
  /**
   * Stops a session under its row's lock, so that no chunk beyond the last one is stored
   * afterwards. Stopping a stopped session changes nothing. Throws `not_found` when there is no
   * such session of the device, `conflict` when it was stopped with another last sequence.
   */
  stop(
    request: StopRequest | OwnerStopRequest,
  ): Promise<{ sessionId: string; status: SessionPhase; outbox: OutboxRow[] }>;
}

const nothing = z.object({}).strict();
const idRow = z.object({ id: z.string() });
const workspaceRow = z.object({
  preferredLanguage: z.string(),
  remoteEngines: z.boolean(),
  isMember: z.boolean(),
  mayRecord: z.boolean(),
});
const stoppableRow = z.object({
  id: z.string(),
  status: z.enum(["recording", "processing", "completed", "failed", "deleted"]),
  lastSequence: optionalColumn(z.number()),
});

/** Starts and stops sessions in PostgreSQL. */
export class PostgresDeviceSessions implements DeviceSessionStore {
  readonly #pool: DatabasePool;
  readonly #others: Pick<OtherTables, "endWithUploads">;
  readonly #runtime: Pick<Runtime, "newId">;
  readonly #ceilings: Ceilings;

  constructor(
    pool: DatabasePool,
    others: Pick<OtherTables, "endWithUploads">,
    runtime: Pick<Runtime, "newId"> = systemRuntime,
    ceilings = NO_CEILINGS,
  ) {
    this.#pool = pool;
    this.#others = others;
    this.#runtime = runtime;
    this.#ceilings = ceilings;
  }

  deviceExists(deviceId: string): Promise<boolean> {
    return this.#pool.exists(sql.type(nothing)`select 1 from devices where id = ${deviceId}`);
  }

  mayRead(deviceId: string, sessionId: string): Promise<boolean> {
    return this.#pool.exists(sql.type(nothing)`
      select 1 from devices d join sessions s on s.device_id = d.id and s.owner_id = d.owner_id
      where d.id = ${deviceId} and d.status = 'paired' and d.may_read
        and s.id = ${sessionId} and s.status = 'recording'`);
  }

  async recording(deviceId: string): Promise<string | undefined> {
    const row = await this.#pool.maybeOne(sql.type(idRow)`
      select id from sessions where device_id = ${deviceId} and status = 'recording'`);
    return row?.id;
  }

  async workspace(workspaceId: string, userId: string): Promise<RecordingWorkspace | undefined> {
    const row = await this.#pool.maybeOne(sql.type(workspaceRow)`
      /* planned once */
      select
        preferred_language as "preferredLanguage", remote_engines as "remoteEngines",
        r.role is not null as "isMember",
        r.is_admin is not null and r.ended_at is null as "mayRecord"
      from workspaces w left join lateral workspace_rights(w.id, ${userId}) r on true
      where w.id = ${workspaceId} and w.deleted_at is null
    `);
    return row ?? undefined;
  }

  start(session: NewSession): Promise<{ startedAt: number; outbox: OutboxRow[] }> {
    const work = this.#pool.transaction(async (tx) => {
      await holdWorkspace(tx, session.workspaceId);
      const startedAt = await beginRecording(tx, session);
      // Comes second: that the device records already is told whatever else is full.
      await this.#assertRoom(tx, session);
      const { jobId, language } = session;
      await queueTranscription(tx, {
        ...{ id: jobId, sessionId: session.id, workspaceId: session.workspaceId },
        error: session.languageWarning ?? "",
      });
      const command = { type: "Start" as const, jobId, language };
      const row = outboxRow(session.id, command, this.#runtime.newId());
      await writeOutbox(tx, row);
      return { startedAt, outbox: [row] };
    });
    return orTaken(work);
  }

  async #assertRoom(tx: CommonQueryMethods, session: NewSession): Promise<void> {
    const { id, ownerId, workspaceId } = session;
    await this.#ceilings.assertStoredBytes(tx, workspaceId);
    await this.#ceilings.assertRoom(tx, "recordings_per_workspace", workspaceId, id);
    await this.#ceilings.assertRoom(tx, "recordings_per_user", ownerId, id);
  }

  stop(
    request: StopRequest | OwnerStopRequest,
  ): Promise<{ sessionId: string; status: SessionPhase; outbox: OutboxRow[] }> {
    return this.#pool.transaction(async (tx) => {
      const session = await lockSession(tx, request);
      if (session.status !== "recording") {
        await assertSameEnd(tx, session, request.lastSequence);
        return { sessionId: session.id, status: session.status, outbox: [] };
      }
      if (request.reason === undefined) {
        const except = "exceptUpload" in request ? request.exceptUpload : undefined;
        const waits = await this.#others.endWithUploads(tx, { sessionId: session.id, except });
        if (waits) return { sessionId: session.id, status: session.status, outbox: [] };
      }
      const row = await markStopped(
        tx,
        session.id,
        request.lastSequence,
        request.reason,
        this.#runtime.newId(),
      );
      await writeOutbox(tx, row);
      return { sessionId: session.id, status: "processing" as const, outbox: [row] };
    });
  }
}

/** Locks the workspace until this transaction ends, so that it cannot be deleted. */
async function holdWorkspace(tx: CommonQueryMethods, workspaceId: string): Promise<void> {
  const row = await tx.maybeOne(sql.type(idRow)`
    select id from workspaces where id = ${workspaceId} and deleted_at is null for key share
  `);
  if (row === null) throw new AppError("not_found", "The workspace was deleted.");
}

/** Locks and returns the named session, else the recording one, else the newest. */
async function lockSession(
  tx: CommonQueryMethods,
  request: StopRequest | OwnerStopRequest,
): Promise<z.output<typeof stoppableRow>> {
  const before = request.begunBefore === undefined ? null : toInstant(request.begunBefore);
  const own = sql.fragment`device_id = ${request.deviceId ?? null} and status <> 'deleted'
    and (${before}::timestamptz is null or started_at < ${before})`;
  const named =
    request.sessionId === undefined
      ? sql.fragment`coalesce(
        (select id from sessions where ${own} and status = 'recording'),
        (select id from sessions where ${own} order by id desc limit 1))`
      : sql.fragment`${request.sessionId}::uuid`;
  const recorded = request.deviceId === undefined ? sql.fragment`true` : own;
  const row = await tx.maybeOne(sql.type(stoppableRow)`
    select id, status, last_chunk_sequence as "lastSequence"
    from sessions
    where id = ${named} and status <> 'deleted' and ${recorded}
    for update
  `);
  if (row !== null) return row;
  throw new AppError(
    "not_found",
    request.sessionId === undefined
      ? "This device has no session to stop."
      : "This device has no session with this session_id.",
  );
}

/**
 * Throws `conflict` when a repeated stop states another end. An end below the highest stored chunk
 * is accepted, as the first stop raised it to that chunk.
 */
async function assertSameEnd(
  tx: CommonQueryMethods,
  { id, lastSequence: recorded }: z.output<typeof stoppableRow>,
  wanted: number | undefined,
): Promise<void> {
  if (recorded === undefined || wanted === undefined || recorded === wanted) return;
  if (wanted < recorded && recorded === (await highestSequence(tx, id))) return;
  throw new AppError(
    "conflict",
    `The session was stopped with last_chunk_sequence ${recorded}; that cannot be changed.`,
  );
}

/**
 * Stops a session whose row is locked. Throws `conflict` when `wanted` is too far beyond the
 * highest chunk.
 */
export async function markStopped(
  tx: CommonQueryMethods,
  sessionId: string,
  wanted: number | undefined,
  reason?: StopReason,
  id?: string,
): Promise<OutboxRow> {
  const highest = await highestSequence(tx, sessionId);
  if (wanted !== undefined && wanted > highest + MAX_MISSING) {
    throw new AppError(
      "conflict",
      `last_chunk_sequence ${wanted} cannot be: the highest chunk so far is ${highest}, and at most ${MAX_MISSING} may be missing. The session goes on.`,
    );
  }
  // Acknowledged audio belongs to the session, even beyond the end that the device states now.
  const lastSequence = Math.max(wanted ?? -1, highest);
  const last = wanted === undefined ? undefined : lastSequence;
  await stopRecording(tx, { id: sessionId, lastSequence: last, reason });
  return outboxRow(sessionId, { type: "Stop", lastSequence, ...(reason && { reason }) }, id);
}
