import { Type } from "@sinclair/typebox";
import { maySession, type Verdict } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { recordElevatedRead } from "../sessions/sessions-access.ts";
import type { SessionDirectory } from "../sessions/sessions-directory.ts";
import type { SegmentReader } from "./segments.ts";
import {
  jobDetailSchema,
  jobSchema,
  jobStatus,
  presentJob,
  presentJobDetail,
} from "./transcription-jobs-detail.ts";
import type {
  TranscriptionJob,
  TranscriptionJobDirectory,
} from "./transcription-jobs-directory.ts";

export interface TranscriptionJobPorts {
  directory: SessionDirectory;
  jobs: TranscriptionJobDirectory;
  segments: SegmentReader;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/** GET /admin/jobs/transcriptions and /admin/jobs/transcriptions/{job_id}. */
export function transcriptionJobRoutes(ports: TranscriptionJobPorts): Route[] {
  return [listJobs(ports), getJob(ports)];
}

function listJobs({ jobs, cursorKey }: TranscriptionJobPorts): Route {
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

/** Whether the caller may see the words of the session that a job is about. */
export async function contentVerdict(
  directory: SessionDirectory,
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

function getJob({ directory, jobs, segments }: TranscriptionJobPorts): Route {
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
        job.sessionId === undefined ? [] : segments.segments(job.sessionId),
      ]);
      return { status: 200, body: presentJobDetail(job, found, verdict) };
    },
  });
}
