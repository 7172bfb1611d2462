import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { timestamp } from "../../rest/timestamp.ts";
import { SUMMARY_TYPES } from "../../session/status.ts";
import { jobStatus } from "../transcript/transcription-jobs-detail.ts";
import type { SummaryJob, SummaryRecord } from "./summaries-directory.ts";

export const summaryType = Type.Union(
  SUMMARY_TYPES.map((type) => Type.Literal(type)),
  {
    description:
      "`brief`: three to five sentences; `detailed`: about a fifth of what was said, by topic; `action_items`: who will do what by when; `decisions`; `topics`: what was talked about, how often, since when; `speakers`: each voice's share of the time and leading sentences. Cues of `action_items` and `decisions` are English.",
    examples: ["brief"],
  },
);

/** A summarisation job without words. */
export const summaryJobSchema = Type.Object({
  id: Type.String(),
  session_id: Type.Optional(Type.String()),
  workspace_id: Type.String(),
  summary_type: summaryType,
  status: jobStatus,
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  error: Type.String(),
  created_at: timestamp,
  completed_at: Type.Optional(timestamp),
});

export const summaryJobDetailSchema = Type.Composite([
  summaryJobSchema,
  Type.Object({
    summary_text: Type.String({
      description:
        "Empty until there is one; `[hidden: content elevation required]` for an administrator without native access or an elevation; begins with `[redacted-` when it was erased.",
    }),
  }),
]);

export const summarySchema = Type.Object({
  job_id: Type.String(),
  session_id: Type.String(),
  summary_type: summaryType,
  engine: Type.String({ examples: ["extractive-2"] }),
  text: Type.String({ description: "The whole summary, for reading" }),
  items: Type.Array(
    Type.Object({
      text: Type.String(),
      segment_ids: Type.Array(Type.String(), { description: "The segments that say so" }),
      start_ms: Type.Integer({ description: "Where the first of them begins" }),
      speaker: Type.Optional(Type.String()),
      section: Type.Optional(Type.String({ description: "Heading under which it stands" })),
      owner: Type.Optional(Type.String({ description: "Who will do an action item" })),
      due: Type.Optional(Type.String({ description: "By when, in the speaker's words" })),
    }),
  ),
  created_at: timestamp,
  stale: Type.Boolean({
    description: "The transcript, or who claimed a voice in it, has changed since",
  }),
});

export function presentSummaryJob(job: SummaryJob): Static<typeof summaryJobSchema> {
  return {
    id: job.id,
    session_id: job.sessionId,
    workspace_id: job.workspaceId,
    summary_type: job.summaryType,
    status: job.status,
    progress: job.progress,
    error: job.error,
    created_at: toTimestamp(job.createdAt),
    completed_at: job.completedAt === undefined ? undefined : toTimestamp(job.completedAt),
  };
}

export function presentSummary(summary: SummaryRecord): Static<typeof summarySchema> {
  return {
    job_id: summary.jobId,
    session_id: summary.sessionId,
    summary_type: summary.summaryType,
    engine: summary.engine,
    text: summary.text,
    items: summary.items.map(({ segmentIds, startMs, ...part }) => ({
      ...part,
      segment_ids: segmentIds,
      start_ms: startMs,
    })),
    created_at: toTimestamp(summary.createdAt),
    stale: summary.stale,
  };
}
