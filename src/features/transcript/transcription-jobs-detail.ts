import { type Static, Type } from "@sinclair/typebox";
import type { Verdict } from "../../access/policy.ts";
import { toTimestamp } from "../../base/clock.ts";
import { derivedId } from "../../base/ids.ts";
import { float, int32 } from "../../rest/interface-types.ts";
import { timestamp } from "../../rest/timestamp.ts";
import { deletionPlaceholder } from "../../session/placeholders.ts";
import { presentSegment, type SegmentRecord, segmentSchema } from "./segments.ts";
import type { TranscriptionJob } from "./transcription-jobs-directory.ts";

export const HIDDEN = "[hidden: content elevation required]";

export const jobStatus = Type.Union(
  (["queued", "running", "completed", "failed", "cancelled"] as const).map((status) =>
    Type.Literal(status),
  ),
);

export const jobSchema = Type.Object({
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
});

export const jobDetailSchema = Type.Composite([
  jobSchema,
  Type.Object({
    transcription_text: Type.Optional(Type.String()),
    segments: Type.Array(segmentSchema),
    content_visible: Type.Boolean(),
    elevation_required: Type.Boolean(),
    session_was_deleted: Type.Boolean(),
    deletion_event_kind: Type.Optional(Type.String()),
  }),
]);

/** A job without its content. */
export function presentJob(job: TranscriptionJob): Static<typeof jobSchema> {
  return {
    id: job.id,
    // One reading is one transcription record: a redo keeps the job and makes another.
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
 * A job with its content, gated as in 2.7 of the interface: words only when
 * `verdict` (on the session's content) allows them, a placeholder in every
 * content field otherwise. Where a span was redacted the rest still stands,
 * but the content is not visible as a whole, and no elevation brings it back.
 */
export function presentJobDetail(
  job: TranscriptionJob,
  segments: readonly SegmentRecord[],
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
