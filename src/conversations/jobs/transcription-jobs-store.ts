import { type CommonQueryMethods, type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import type { Change } from "../../postgres/append-work.ts";
import type { JobCompleted, JobFailed, JobStarted, RedoCancelled } from "../../session/event.ts";
import type { ProgressWrite } from "../../session/write.ts";

/** The job that reads a session that begins; `error` says why it may not be read at the moment. */
export async function queueTranscription(
  tx: CommonQueryMethods,
  job: { id: string; sessionId: string; workspaceId: string; error: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into jobs (id, kind, session_id, workspace_id, status, error)
    values (${job.id}, 'transcription', ${job.sessionId}, ${job.workspaceId}, 'queued',
      ${job.error})`);
}

/** Stores what the next reading is asked for. */
export async function wantTranscription(
  pool: DatabasePool,
  jobId: string,
  { language, engine }: { language: string | undefined; engine: string | undefined },
): Promise<void> {
  await pool.query(sql.unsafe`
    update jobs set forced_language = ${language ?? null}, wanted_engine = ${engine ?? null}
    where id = ${jobId}`);
}

/** Queues the job of a session for another reading of it. */
export async function requeueTranscription(
  tx: CommonQueryMethods,
  { jobId, attempt }: { jobId: string; attempt: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs
    set status = 'queued', attempt = ${attempt}, progress = 0, error = '',
        started_at = null, completed_at = null, edits_replaced = 0
    where id = ${jobId}`);
}

export function jobStarted(event: JobStarted, at: number): Change {
  return {
    writes: ["jobs"],
    sql: (when) => sql.fragment`
      update jobs
      set status = 'running', error = '', attempt = ${event.attempt}, engine = ${event.engine},
          detected_language = ${event.detectedLanguage},
          sound_leaves = ${event.soundLeaves === true},
          diarisation_model_version = ${event.diarisationModelVersion},
          started_at = coalesce(started_at, ${timestamp(at)})
      where id = ${event.jobId} and status in ('queued', 'running') and ${when}`,
  };
}

export function jobFailed(event: JobFailed, at: number): Change {
  return {
    writes: ["jobs"],
    sql: (when) => sql.fragment`
      update jobs
      set status = 'failed', progress = 1, error = ${event.message}, completed_at = ${timestamp(at)}
      where id = ${event.jobId} and status <> 'cancelled' and ${when}`,
  };
}

export function redoCancelled(event: RedoCancelled, at: number): Change {
  return {
    writes: ["jobs"],
    sql: (when) => sql.fragment`
      update jobs set status = 'cancelled', progress = 0, completed_at = ${timestamp(at)}
      where id = ${event.jobId} and status in ('queued', 'running') and ${when}`,
  };
}

export function jobProgressed({ jobId, progress }: ProgressWrite): Change {
  return {
    writes: ["jobs"],
    sql: (when) => sql.fragment`
      update jobs set progress = greatest(progress, ${progress}::real)
      where id = ${jobId} and ${when}`,
  };
}

/** Ends a job as done, with its figures. */
export async function completeTranscription(
  tx: CommonQueryMethods,
  sessionId: string,
  { jobId, durationMs }: JobCompleted,
  at: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs
    set status = 'completed', progress = 1, error = '', completed_at = ${timestamp(at)},
        duration_ms = ${durationMs}
    where id = ${jobId} and status <> 'cancelled'`);
  await recountJob(tx, sessionId, jobId);
}

/** Notes what was replaced of a text that a job had read to the end; `toMs` is where that ends. */
export async function noteReplaced(
  tx: CommonQueryMethods,
  sessionId: string,
  {
    jobId,
    toMs,
    editsReplaced,
  }: { jobId: string; toMs: number; editsReplaced?: number | undefined },
): Promise<void> {
  // Late audio at the end may make a completed session longer.
  await tx.query(sql.unsafe`
    update jobs set duration_ms = greatest(duration_ms, ${toMs})
    where id = ${jobId} and status = 'completed'`);
  await recountJob(tx, sessionId, jobId);
  if (editsReplaced === undefined) return;
  await tx.query(sql.unsafe`
    update jobs set edits_replaced = ${editsReplaced} where id = ${jobId}`);
}

/** SQL that gives a job what was noted of the reading that waits beside the text, and is chosen. */
export function noteChosenTranscription(sessionId: string, attempt: number): FragmentSqlToken {
  return sql.fragment`
    update jobs j
    set engine = c.engine, detected_language = c.detected_language,
      diarisation_model_version = c.diarisation_model_version, sound_leaves = c.sound_leaves,
      attempt = c.other_attempt
    from redo_candidates c
    where c.session_id = ${sessionId} and c.attempt = ${attempt} and j.id = c.job_id`;
}

/** Recomputes the counts and the mean confidence, weighted by words, from the present segments. */
async function recountJob(tx: CommonQueryMethods, sessionId: string, jobId: string): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs as j
    set segment_count = s.segments, speaker_count = s.speakers, avg_confidence = s.confidence
    from (
      select count(*)::int as segments,
             count(distinct label) filter (where label <> 'UU')::int as speakers,
             (sum(confidence * jsonb_array_length(words))
               / nullif(sum(jsonb_array_length(words)), 0))::real as confidence
      from segments where session_id = ${sessionId}
    ) as s
    where j.id = ${jobId}`);
}

function timestamp(at: number): ReturnType<typeof sql.timestamp> {
  return sql.timestamp(new Date(at));
}
