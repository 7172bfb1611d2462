import { Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { deletionPlaceholder, REDACTED_SPAN } from "../../session/placeholders.ts";
import type { SessionDirectory } from "../sessions/sessions-directory.ts";
import { contentVerdict } from "../transcript/transcription-jobs.ts";
import { HIDDEN, jobStatus } from "../transcript/transcription-jobs-detail.ts";
import type { SummaryDirectory, SummaryJob } from "./summaries-directory.ts";
import {
  presentSummaryJob,
  summaryJobDetailSchema,
  summaryJobSchema,
  summaryType,
} from "./summaries-schema.ts";

export interface SummarisationJobPorts {
  directory: SessionDirectory;
  summaries: SummaryDirectory;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

const LIST = "summarisation-jobs";

/** GET /admin/jobs/summarisations and /admin/jobs/summarisations/{id}. */
export function summarisationJobRoutes(ports: SummarisationJobPorts): Route[] {
  return [listJobs(ports), getJob(ports)];
}

function listJobs({ summaries, cursorKey }: SummarisationJobPorts): Route {
  return defineRoute({
    method: "get",
    path: "/admin/jobs/summarisations",
    id: "listSummarisationJobs",
    tag: "Admin",
    summary: "Summarisation jobs, newest first, without content",
    auth: ["bearer"],
    roles: ["admin"],
    query: Type.Object({
      ...pageQuery,
      status: Type.Optional(jobStatus),
      summary_type: Type.Optional(summaryType),
      session_id: Type.Optional(Type.String()),
      workspace_id: Type.Optional(Type.String()),
    }),
    responses: { 200: { description: "A page of jobs", schema: pageSchema(summaryJobSchema) } },
    async handle({ query }) {
      const filter = {
        status: query.status,
        summaryType: query.summary_type,
        sessionId: filterId("session_id", query.session_id),
        workspaceId: filterId("workspace_id", query.workspace_id),
      };
      const found = await summaries.list(filter, toPageRequest(cursorKey, LIST, query));
      return { status: 200, body: toPageBody(cursorKey, LIST, found, presentSummaryJob) };
    },
  });
}

function getJob({ directory, summaries }: SummarisationJobPorts): Route {
  return defineRoute({
    method: "get",
    path: "/admin/jobs/summarisations/{id}",
    id: "getSummarisationJob",
    tag: "Admin",
    summary: "A summarisation job with its text",
    description:
      "An administrator without native access to the session sees a placeholder until a content elevation is in force.",
    auth: ["bearer"],
    roles: ["admin"],
    params: Type.Object({ id: Type.String({ description: "UUID of the job" }) }),
    responses: { 200: { description: "The job", schema: summaryJobDetailSchema } },
    async resolve({ params }): Promise<SummaryJob> {
      const job = isId(params.id) ? await summaries.get(params.id) : undefined;
      if (job === undefined) {
        throw new AppError("not_found", "There is no summarisation job with this id.");
      }
      return job;
    },
    async handle({ principal }, job) {
      const verdict = await contentVerdict(directory, requirePrincipal(principal), job);
      const isVisible = !job.sessionDeleted && verdict === "allow";
      const summary_text = isVisible ? await textOf(summaries, job) : placeholderOf(job);
      return { status: 200, body: { ...presentSummaryJob(job), summary_text } };
    },
  });
}

async function textOf(summaries: SummaryDirectory, job: SummaryJob): Promise<string> {
  const text = await summaries.text(job.id);
  // A completed job without words lost them to a redaction.
  return text ?? (job.status === "completed" ? REDACTED_SPAN : "");
}

function placeholderOf(job: SummaryJob): string {
  return job.sessionDeleted ? deletionPlaceholder(job.deletionKind) : HIDDEN;
}
