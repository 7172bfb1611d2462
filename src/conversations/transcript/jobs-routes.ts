import { type Static, Type } from "@sinclair/typebox";
import { maySession, type Verdict } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { derivedId, isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { float, int32, timestamp } from "../../rest/schemas.ts";
import { deletionPlaceholder } from "../../session/redaction.ts";
import { recordElevatedRead } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { TranscriptionJob, TranscriptionJobStore } from "./jobs-store.ts";
import type { PlainSegmentRecord, SegmentStore } from "./segments-store.ts";
import { presentSegment } from "./writing/present-segments.ts";
import { segmentSchema } from "./writing/segment-schemas.ts";

interface TranscriptionJobOptions {
  directory: SessionStore;
  jobs: TranscriptionJobStore;
  segments: Pick<SegmentStore, "plain">;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/** GET /admin/jobs/transcriptions and /admin/jobs/transcriptions/{job_id}. */
export function transcriptionJobRoutes(options: TranscriptionJobOptions): Route[] {
  return [listJobs(options), getJob(options)];
}

function listJobs({ jobs, cursorKey }: TranscriptionJobOptions): Route {
  return defineRoute({
    method: "get",
    path: "/admin/jobs/transcriptions",
    id: "listTranscriptionJobs",
    tag: "Admin",
    summary: "Transcription jobs, newest first, without content",
    auth: ["bearer"],
    roles: ["admin"],
    query: Type.Object({
      ...pageQuery,
      status: Type.Optional(jobStatus),
      session_id: Type.Optional(Type.String()),
      workspace_id: Type.Optional(Type.String()),
    }),
    responses: { 200: { description: "A page of jobs", schema: pageSchema(jobSchema) } },
    async handle({ query }) {
      const filter = {
        status: query.status,
        sessionId: filterId("session_id", query.session_id),
        workspaceId: filterId("workspace_id", query.workspace_id),
      };
      const found = await jobs.list(filter, toPageRequest(cursorKey, "transcription-jobs", query));
      return {
        status: 200,
        body: toPageBody(cursorKey, "transcription-jobs", found, presentJob),
      };
    },
  });
}

/** Decides whether the caller may see the words of a job's session. */
export async function contentVerdict(
  directory: SessionStore,
  principal: Principal,
  job: { sessionId?: string | undefined },
): Promise<Verdict> {
  if (job.sessionId === undefined) return "not_found";
  const facts = await directory.facts(principal, job.sessionId);
  if (facts === undefined) return "not_found";
  const verdict = maySession(principal, "session.content", facts);
  if (verdict === "allow") {
    await recordElevatedRead(directory, principal, "session.content", facts);
  }
  return verdict;
}

function getJob({ directory, jobs, segments }: TranscriptionJobOptions): Route {
  return defineRoute({
    method: "get",
    path: "/admin/jobs/transcriptions/{job_id}",
    id: "getTranscriptionJob",
    tag: "Admin",
    summary: "A transcription job with its text and segments",
    description:
      "An administrator without native access to the session sees placeholders until a content elevation is in force.",
    auth: ["bearer"],
    roles: ["admin"],
    params: Type.Object({
      job_id: Type.String({ format: "uuid", description: "UUID of the job" }),
    }),
    responses: { 200: { description: "The job", schema: jobDetailSchema } },
    async resolve({ params }): Promise<TranscriptionJob> {
      const job = isId(params.job_id) ? await jobs.get(params.job_id) : undefined;
      if (job === undefined) {
        throw new AppError("not_found", "There is no transcription job with this id.");
      }
      return job;
    },
    async handle({ principal }, job) {
      const caller = requirePrincipal(principal);
      const [verdict, found] = await Promise.all([
        contentVerdict(directory, caller, job),
        job.sessionId === undefined ? [] : segments.plain(job.sessionId),
      ]);
      return { status: 200, body: presentJobDetail(job, found, verdict) };
    },
  });
}

export const HIDDEN = "[hidden: content elevation required]";

export const jobStatus = Type.Union(
  (["queued", "running", "completed", "failed", "cancelled"] as const).map((status) =>
    Type.Literal(status),
  ),
  { $id: "JobStatus" },
);

const jobSchema = Type.Object(
  {
    id: Type.String(),
    transcription_id: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    workspace_id: Type.String(),
    status: jobStatus,
    progress: Type.Number({ minimum: 0, maximum: 1, format: "float" }),
    error: Type.String(),
    detected_language: Type.Optional(Type.String()),
    forced_language: Type.Optional(Type.String()),
    diarisation_model_version: Type.Optional(Type.String()),
    segment_count: int32,
    speaker_count: Type.Optional(int32),
    duration_ms: Type.Optional(int32),
    avg_confidence: Type.Optional(float),
    created_at: timestamp,
    completed_at: Type.Optional(timestamp),
  },
  { $id: "TranscriptionJob" },
);

const jobDetailSchema = Type.Composite(
  [
    jobSchema,
    Type.Object({
      transcription_text: Type.Optional(Type.String()),
      segments: Type.Array(segmentSchema),
      content_visible: Type.Boolean(),
      elevation_required: Type.Boolean(),
      session_was_deleted: Type.Boolean({
        description: "Whether the session was deleted: then words are a placeholder",
      }),
      deletion_event_kind: Type.Optional(
        Type.String({ description: "What deleted it; absent unless it was deleted" }),
      ),
    }),
  ],
  { $id: "TranscriptionJobDetail" },
);

/** A job without its words. */
function presentJob(job: TranscriptionJob): Static<typeof jobSchema> {
  return {
    id: job.id,
    // Each reading is one transcription record: a redo keeps the job and makes a new record.
    transcription_id:
      job.startedAt === undefined ? undefined : derivedId("transcription", job.id, job.attempt),
    session_id: job.sessionId,
    workspace_id: job.workspaceId,
    status: job.status,
    progress: job.progress,
    error: job.error,
    detected_language: job.detectedLanguage,
    forced_language: job.forcedLanguage,
    diarisation_model_version: job.diarisationModelVersion,
    segment_count: job.segmentCount,
    speaker_count: job.speakerCount,
    duration_ms: job.durationMs,
    avg_confidence: job.avgConfidence,
    created_at: toTimestamp(job.createdAt),
    completed_at: job.completedAt === undefined ? undefined : toTimestamp(job.completedAt),
  };
}

/**
 * A job with its content, restricted as in 2.7 of the interface: words only when `verdict` (on the
 * session's content) allows them, a placeholder in every content field otherwise. Where a span was
 * redacted the other words remain, but the content does not count as visible, and no elevation
 * restores it.
 */
function presentJobDetail(
  job: TranscriptionJob,
  segments: readonly PlainSegmentRecord[],
  verdict: Verdict,
): Static<typeof jobDetailSchema> {
  const shown = !job.sessionDeleted && verdict === "allow";
  const placeholder = job.sessionDeleted ? deletionPlaceholder(job.deletionKind) : HIDDEN;
  return {
    ...presentJob(job),
    segment_count: segments.length,
    transcription_text: shown ? segments.map(({ text }) => text).join(" ") : placeholder,
    segments: segments.map((segment) =>
      shown ? presentSegment(segment) : { ...presentSegment(segment), text: placeholder },
    ),
    content_visible: shown && segments.every((segment) => segment.redacted !== true),
    elevation_required: !job.sessionDeleted && !shown,
    session_was_deleted: job.sessionDeleted,
    deletion_event_kind: job.sessionDeleted ? job.deletionKind : undefined,
  };
}
