import { type Static, Type } from "@sinclair/typebox";
import type { SessionAction } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, behind, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal, requireUser } from "../../rest/callers.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import {
  defineRoute,
  HUMAN_ROLES,
  type Reply,
  type Request,
  type Route,
} from "../../rest/route.ts";
import { optionalTime, timestamp } from "../../rest/schemas.ts";
import type { FeatureContext, SessionActors } from "../context.ts";
import { JOB_KINDS, type JobRecord, JobStore } from "../jobs/store.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import { jobStatus } from "./jobs-routes.ts";
import { type RedoOptions, redoBody, requestRedo } from "./redo.ts";

interface JobOptions {
  directory: SessionStore;
  allJobs: JobStore;
  actors: SessionActors;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/**
 * Jobs of every kind, for those who wait for them: GET /jobs, /jobs/{id}, POST /jobs/{id}/cancel,
 * POST /sessions/{id}/transcriptions.
 */
export function createJobs(
  { pool, cursorKey, actors }: FeatureContext,
  { directory, redo }: { directory: SessionStore; redo: RedoOptions },
): { routes: Route[] } {
  const options = { ...redo, directory, allJobs: new JobStore(pool), actors, cursorKey };
  return {
    routes: [listJobs(options), getJob(options), cancelJob(options), transcribeAgain(options)],
  };
}

const jobKind = Type.Union(
  JOB_KINDS.map((kind) => Type.Literal(kind)),
  { $id: "JobKind" },
);

const jobSchema = Type.Object(
  {
    id: Type.String(),
    kind: jobKind,
    session_id: Type.String(),
    workspace_id: Type.String(),
    status: jobStatus,
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    error: Type.String({ description: "Empty without an error" }),
    engine: Type.Optional(Type.String()),
    detected_language: Type.Optional(Type.String()),
    forced_language: Type.Optional(Type.String()),
    edits_replaced: Type.Optional(
      Type.Integer({
        description:
          "Of a transcription that was repeated: so many segments that people had edited were replaced by the newest reading. Absent when none were",
        examples: [3],
      }),
    ),
    created_at: timestamp,
    started_at: Type.Optional(timestamp),
    completed_at: Type.Optional(timestamp),
  },
  { $id: "Job" },
);

const jobParams = Type.Object({ id: Type.String({ description: "UUID of the job" }) });

function presentJob(job: JobRecord): Static<typeof jobSchema> {
  return {
    id: job.id,
    kind: job.kind,
    session_id: job.sessionId,
    workspace_id: job.workspaceId,
    status: job.status,
    progress: job.progress,
    error: job.error,
    engine: job.engine,
    detected_language: job.detectedLanguage,
    forced_language: job.forcedLanguage,
    ...(job.editsReplaced > 0 ? { edits_replaced: job.editsReplaced } : {}),
    created_at: toTimestamp(job.createdAt),
    started_at: optionalTime(job.startedAt),
    completed_at: optionalTime(job.completedAt),
  };
}

function unknownJob(): AppError {
  return new AppError("not_found", "There is no job with this id.");
}

/**
 * Returns the job if the caller may do this to its session. Throws 404 for an unknown one, 403 when
 * the caller has no such right.
 */
async function requireJob(
  { directory, allJobs }: JobOptions,
  principal: Principal | undefined,
  jobId: string,
  action: SessionAction,
): Promise<JobRecord> {
  const job = isId(jobId) ? await allJobs.find(jobId) : undefined;
  if (job === undefined) throw unknownThing("job", jobId);
  await behind("job", jobId, requireSession(directory, principal, job.sessionId, action));
  return job;
}

async function replyWith(allJobs: JobStore, jobId: string, status: number): Promise<Reply> {
  const job = await allJobs.find(jobId);
  if (job === undefined) throw unknownThing("job", jobId);
  return { status, body: presentJob(job) };
}

function listJobs({ allJobs, cursorKey }: JobOptions): Route {
  return defineRoute({
    method: "get",
    path: "/jobs",
    id: "listJobs",
    tag: "Job",
    summary: "Jobs of the caller's own sessions, newest first",
    description:
      "Of the sessions that the caller owns, took part in or that were shared with the caller; without content.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    query: Type.Object({
      ...pageQuery,
      kind: Type.Optional(jobKind),
      status: Type.Optional(jobStatus),
      session_id: Type.Optional(Type.String()),
    }),
    responses: { 200: { description: "A page of jobs", schema: pageSchema(jobSchema) } },
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const { kind, status } = query;
      const filter = { kind, status, sessionId: filterId("session_id", query.session_id) };
      const page = toPageRequest(cursorKey, "jobs", query);
      const found = await allJobs.list(caller.id, filter, page);
      return { status: 200, body: toPageBody(cursorKey, "jobs", found, presentJob) };
    },
  });
}

function getJob(options: JobOptions): Route {
  return defineRoute({
    method: "get",
    path: "/jobs/{id}",
    id: "getJob",
    tag: "Job",
    summary: "How far a job is",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: jobParams,
    responses: { 200: { description: "The job", schema: jobSchema } },
    resolve: ({ principal, params }) => requireJob(options, principal, params.id, "session.read"),
    handle: async (_request, job: JobRecord) => ({ status: 200, body: presentJob(job) }),
  });
}

function cancelJob(options: JobOptions): Route {
  return defineRoute({
    method: "post",
    path: "/jobs/{id}/cancel",
    id: "cancelJob",
    tag: "Job",
    throughActor: true,
    summary: "Cancel a job that is queued or running",
    description:
      "By the session's owner or an administrator. A summary is not made. Of transcriptions only a repeated one can be cancelled: the text that stands stays, and the job can be repeated again. The first transcription is the session's text itself; it ends with the session. Cancelling again is answered the same.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: jobParams,
    responses: {
      200: { description: "It is cancelled", schema: jobSchema, example: { status: "cancelled" } },
    },
    errors: ["session_deleted", "conflict"],
    resolve: ({ principal, params }) => requireJob(options, principal, params.id, "session.jobs"),
    async handle(request, job: JobRecord) {
      if (job.status !== "cancelled") await cancel(options, job, request);
      return replyWith(options.allJobs, job.id, 200);
    },
  });
}

async function cancel(
  { allJobs, actors }: JobOptions,
  { id, kind, sessionId, status }: JobRecord,
  request: Pick<Request, "commandId" | "principal">,
): Promise<void> {
  if (status === "completed" || status === "failed") throw ended(status);
  if (kind === "transcription") {
    const byUserId = requirePrincipal(request.principal).id;
    await actors.ask(sessionId, { type: "CancelRedo", byUserId }, commandIdOf(request));
    return;
  }
  if (await allJobs.cancelBatch(id)) return;
  const now = await allJobs.find(id);
  if (now?.status !== "cancelled") throw ended(now?.status ?? "failed");
}

function ended(status: string): AppError {
  return new AppError("conflict", `This job has ended before: it is ${status}.`);
}

function transcribeAgain(options: JobOptions & RedoOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/transcriptions",
    id: "transcribeAgain",
    tag: "Job",
    throughActor: true,
    summary: "Recognise a session's stored audio once more",
    description:
      "By the session's owner or an administrator, with another engine, language or vocabulary when told. The session keeps its one transcription job, and the text that stands stays until the new one replaces it in one step. Claims are kept; corrections of segments are not: `edits_replaced` of the job tells afterwards how many it replaced. With `review` the result waits instead: the job completes, the text that stands stays, and the result is compared, accepted or discarded at `transcriptions/candidate`. 409 as well when the session has no audio at all.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    body: { kind: "json", optional: true, schema: redoBody },
    responses: {
      202: { description: "It is queued", schema: jobSchema, example: { status: "queued" } },
    },
    errors: ["job_active", "conflict", "language_unsupported"],
    resolve: ({ principal, params }) =>
      requireSession(options.directory, principal, params.session_id, "session.jobs"),
    async handle(request, { principal }) {
      const session = await options.directory.get(request.params.session_id);
      const job = session === undefined ? undefined : await options.jobs.get(session.jobId);
      if (job === undefined) throw unknownJob();
      await requestRedo(options, job, request, principal.id);
      return replyWith(options.allJobs, job.id, 202);
    },
  });
}
