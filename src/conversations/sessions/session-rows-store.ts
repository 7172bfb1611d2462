import { type CommonQueryMethods, type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import type { SessionCompleted, SessionFailed, SessionStopped } from "../../session/event.ts";
import type { StopReason } from "../../session/status.ts";
import type { CompatInterface } from "../../wire/session-record.ts";
import type { CustomFields } from "./custom-fields.ts";

export interface NewSession {
  id: string;
  jobId: string;
  workspaceId: string;
  ownerId: string;
  /** The device whose key uploads the audio; without one nothing can be uploaded. */
  deviceId: string | undefined;
  title: string;
  /** What a program keeps with it. */
  custom?: CustomFields | undefined;
  /** Who of the workspace sees it; its owner alone by default. */
  visibility?: "private" | "workspace" | undefined;
  /** Set where no guest may come in until its owner says so. */
  guestAccess?: "closed" | undefined;
  language: string;
  /** The engine that its start named. */
  engine?: string | undefined;
  /** Why no engine may read its language at the moment, a sentence. */
  languageWarning?: string | undefined;
  vocabulary: string[];
  /** How many channels of the sound are one speaker each; none without it. */
  speakerChannels?: number | undefined;
  workshopId: string | undefined;
  /** Set for a call of another service's client. */
  compat?: CompatMark | undefined;
}

/** What a session's row tells of a call of another service's client. */
interface CompatMark {
  interface: CompatInterface;
  /** Deleted once it has ended. */
  deleteAtEnd: boolean;
}

const idRow = z.object({ id: z.string() });
const startedRow = z.object({ startedAt: z.number() });

/**
 * Inserts a session that records; resolves to when it started, Unix milliseconds. Throws
 * `already_recording` when its device records another one.
 */
export async function beginRecording(tx: CommonQueryMethods, session: NewSession): Promise<number> {
  const { externalId, metadata = {}, tags = [] } = session.custom ?? {};
  const row = await tx.maybeOne(sql.type(startedRow)`
    insert into sessions (
      id, workspace_id, owner_id, device_id, job_id, title, language, engine, vocabulary, workshop_id,
      compat, delete_at_end, guest_access, language_warning, speaker_channels, visibility,
      external_id, metadata, tags, status
    ) values (
      ${session.id}, ${session.workspaceId}, ${session.ownerId}, ${session.deviceId ?? null},
      ${session.jobId}, ${session.title}, ${session.language}, ${session.engine ?? null},
      ${JSON.stringify(session.vocabulary)}::jsonb, ${session.workshopId ?? null},
      ${session.compat?.interface ?? null}, ${session.compat?.deleteAtEnd ?? false},
      ${session.guestAccess ?? null}, ${session.languageWarning ?? null},
      ${session.speakerChannels ?? null}, ${session.visibility ?? "private"}, ${externalId ?? null},
      ${JSON.stringify(metadata)}::jsonb, ${sql.array([...tags], "text")}, 'recording'
    )
    on conflict (device_id) where status = 'recording' do nothing
    returning started_at as "startedAt"
  `);
  if (row !== null) return row.startedAt;
  const running = await tx.maybeOne(sql.type(idRow)`
    select id from sessions where device_id = ${session.deviceId ?? null} and status = 'recording'
  `);
  const which = running === null ? "Another session" : `Session ${running.id}`;
  throw new AppError(
    "already_recording",
    `${which} is already recording on this device. Stop it first.`,
  );
}

/** Ends the recording of a session whose row is locked. */
export async function stopRecording(
  tx: CommonQueryMethods,
  stop: { id: string; lastSequence: number | undefined; reason: StopReason | undefined },
): Promise<void> {
  await tx.query(sql.unsafe`
    update sessions
    set status = 'processing',
        stopped_at = now(),
        last_chunk_sequence = ${stop.lastSequence ?? null},
        stop_reason = ${stop.reason ?? null},
        updated_at = now()
    where id = ${stop.id}`);
}

/** Updates the session's own row, which every append has locked already. */
export async function projectPhase(
  tx: CommonQueryMethods,
  sessionId: string,
  event: SessionStopped | SessionCompleted | SessionFailed,
  at: number,
): Promise<void> {
  if (event.type === "SessionStopped") {
    await tx.query(sql.unsafe`
      update sessions
      set status = 'processing', stopped_at = coalesce(stopped_at, ${sql.timestamp(new Date(at))}),
          last_chunk_sequence = coalesce(last_chunk_sequence, ${event.lastSequence})
      where id = ${sessionId} and status in ('recording', 'processing')`);
    return;
  }
  const isFailed = event.type === "SessionFailed";
  const reason = (isFailed ? event.reason : undefined) ?? null;
  await tx.query(sql.unsafe`
    update sessions
    set status = ${isFailed ? "failed" : "completed"}, completed_at = ${sql.timestamp(new Date(at))},
        failure_reason = ${reason}
    where id = ${sessionId} and status <> 'deleted'`);
}

/** Replaces the vocabulary with which a job reads its session. */
export async function setVocabulary(
  pool: DatabasePool,
  jobId: string,
  vocabulary: readonly string[],
): Promise<void> {
  await pool.query(sql.unsafe`
    update sessions set vocabulary = ${JSON.stringify(vocabulary)}::jsonb
    where id = (select session_id from jobs where id = ${jobId})`);
}

/** SQL that moves a session's row to the end of an append, where it is `asKnown`; returns its id. */
export function moveSession(
  { seq, hasEvents, hasWork }: { seq: number; hasEvents: boolean; hasWork: boolean | undefined },
  asKnown: FragmentSqlToken,
): FragmentSqlToken {
  const changed = [
    ...(hasEvents ? [sql.fragment`seq = ${seq}`, sql.fragment`updated_at = now()`] : []),
    ...(hasWork === undefined
      ? []
      : [sql.fragment`has_work = ${hasWork}`, sql.fragment`work_seq = ${seq}`]),
  ];
  return sql.fragment`
    update sessions set ${sql.join(changed, sql.fragment`, `)}
    where ${asKnown} returning id`;
}

/** SQL that gives the sessions `s` to another owner: the old one's epoch ends. Returns what it takes up. */
export function takeOver(which: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    update sessions s set epoch = s.epoch + 1 ${which}
    returning s.id, s.epoch, s.seq, s.has_work as "hasWork"`;
}
