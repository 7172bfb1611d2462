import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { deletionPlaceholder, REDACTED_SPAN } from "../../session/redaction.ts";
import { CUSTOM_SECTIONS, SUMMARY_TYPES } from "../../session/status.ts";
import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import type { FeatureContext } from "../context.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import { contentVerdict, HIDDEN, jobStatus } from "../transcript/jobs-routes.ts";
import { actionItemRoutes } from "./action-item-routes.ts";
import { ActionItemStore } from "./action-items-store.ts";
import { arrangeNotes, type SummaryJob, type SummaryRecord, SummaryStore } from "./store.ts";
import { templateMembers, templateRoutes } from "./template-routes.ts";
import { customSections } from "./templates.ts";
import { TemplateStore } from "./templates-store.ts";

const summaryType = Type.Union(
  SUMMARY_TYPES.map((type) => Type.Literal(type)),
  {
    $id: "SummaryType",
    description:
      "`brief`: three to five sentences; `detailed`: about a fifth of what was said, by topic; `action_items`: who will do what by when; `decisions`; `topics`: what was talked about, how often, since when; `open_questions`: what nobody answered; `custom_sections`: what the session's template wants in its workspace's own words; `speakers`: each voice's share of the time and leading sentences. Cues of `action_items`, `decisions` and `open_questions` are English.",
    examples: ["brief"],
  },
);

/** A summarisation job without its summary. */
const summaryJobSchema = Type.Object(
  {
    id: Type.String(),
    session_id: Type.Optional(Type.String()),
    workspace_id: Type.String(),
    summary_type: summaryType,
    status: jobStatus,
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    error: Type.String(),
    created_at: timestamp,
    completed_at: Type.Optional(timestamp),
  },
  { $id: "SummaryJob" },
);

const summaryJobDetailSchema = Type.Composite(
  [
    summaryJobSchema,
    Type.Object({
      summary_text: Type.String({
        description:
          "Empty until there is one; `[hidden: content elevation required]` for an administrator without native access or an elevation; begins with `[redacted-` when it was erased.",
      }),
    }),
  ],
  { $id: "SummaryJobDetail" },
);

const summarySchema = Type.Object(
  {
    job_id: Type.String(),
    session_id: Type.String(),
    summary_type: summaryType,
    engine: Type.String({
      description:
        "The method: `extractive-…` picks sentences, `grounded-…` checks those of a model",
      examples: ["extractive-2"],
    }),
    model: Type.Optional(
      Type.String({
        description:
          "The language model that worded it, each sentence borne by the segments that it cites; absent: it is by rule",
        examples: ["llama3.1:8b"],
      }),
    ),
    dropped_sentences: Type.Integer({
      minimum: 0,
      description:
        "Sentences of a language model that are not shown, as the segments that they cite do not bear them",
    }),
    text: Type.String({ description: "The whole summary, for reading" }),
    items: Type.Array(
      Type.Object({
        id: Type.Optional(
          Type.String({
            description:
              "Of an action item, by which it is changed; it stays when the notes are made again. Absent where an older release made them",
            examples: [exampleId("item_id")],
          }),
        ),
        text: Type.String({ description: "What it says, as one sentence or a few" }),
        segment_ids: Type.Array(Type.String(), { description: "The segments that say so" }),
        start_ms: Type.Integer({ description: "Where the first of them begins" }),
        speaker: Type.Optional(
          Type.String({
            description:
              "Name of who said it, as it was then; else their label, or `Unknown speaker`",
            examples: ["Anna"],
          }),
        ),
        section: Type.Optional(Type.String({ description: "Heading under which it stands" })),
        owner: Type.Optional(Type.String({ description: "Who will do an action item" })),
        done: Type.Optional(Type.Boolean({ description: "Whether an action item is done" })),
        due: Type.Optional(Type.String({ description: "By when, in the speaker's words" })),
      }),
      { description: "Its parts, in order" },
    ),
    created_at: timestamp,
    version: Type.Integer({
      minimum: 1,
      description: "Counts the summaries of this type that the session has had",
    }),
    stale: Type.Boolean({
      description:
        "The transcript, who claimed a voice in it, or what its template wants (`custom_sections`) has changed since. Notes that were made by themselves are made again soon",
    }),
  },
  { $id: "Summary" },
);

const summaryPage = Type.Composite(
  [
    pageSchema(summarySchema),
    Type.Object({
      pending: Type.Array(
        Type.Object({
          summary_type: summaryType,
          status: Type.Union([Type.Literal("queued"), Type.Literal("running")]),
          progress: Type.Number({ minimum: 0, maximum: 1 }),
        }),
        { description: "Those that are being made, or will be by themselves" },
      ),
      template: Type.Object(templateMembers, {
        description:
          "How they are arranged for people: by the session's `notes_template`, or that of its workspace. What a section of kind `custom` has are the items of `custom_sections` with its title as `section`",
      }),
    }),
  ],
  { $id: "SummaryPage" },
);

export type SummaryPage = Static<typeof summaryPage>;

function presentSummaryJob(job: SummaryJob): Static<typeof summaryJobSchema> {
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

function presentSummary(summary: SummaryRecord): Static<typeof summarySchema> {
  return {
    job_id: summary.jobId,
    session_id: summary.sessionId,
    summary_type: summary.summaryType,
    engine: summary.engine,
    model: summary.model,
    dropped_sentences: summary.droppedSentences,
    text: summary.text,
    items: summary.items.map(({ segmentIds, startMs, ...part }) => ({
      ...part,
      segment_ids: segmentIds,
      start_ms: startMs,
    })),
    created_at: toTimestamp(summary.createdAt),
    version: summary.version,
    stale: summary.stale,
  };
}

interface SummaryOptions {
  directory: SessionStore;
  summaries: SummaryStore;
  templates: Pick<TemplateStore, "ofSession">;
  /** Called when a job was requested and committed, so that a worker can look for it at once. */
  onRequested?(): void;
}

/** POST and GET /sessions/{id}/summaries. */
export function summaryRoutes(options: SummaryOptions): Route[] {
  return [requestSummary(options), listSummaries(options)];
}

function requestSummary(options: SummaryOptions): Route {
  const { directory, summaries, templates, onRequested } = options;
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/summaries",
    id: "requestSummary",
    tag: "Job",
    summary: "Ask for a summary of a session",
    description:
      "Answers with the job that makes it. While a job of the same type is queued or running, that one is the answer. Every sentence of a summary was said, or is worded by a language model, where the operator has configured one, and borne by the segments that it cites: what they do not bear is dropped. One by rule is there first, and the model's follows as the next version. When it is there, viewers get `SummaryUpdated`. A session that still records is summarised as far as it is transcribed.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    body: { kind: "json", schema: Type.Object({ summary_type: summaryType }) },
    responses: {
      202: {
        description: "The job that makes it",
        schema: summaryJobSchema,
        example: { status: "queued" },
      },
    },
    errors: ["conflict", "elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.summarise"),
    async handle({ body }, { facts }) {
      if (body.summary_type === CUSTOM_SECTIONS) {
        const { id, sections } = await templates.ofSession(facts.id);
        if (customSections({ sections }).length === 0) {
          throw new AppError("conflict", `The session's template, ${id}, has no custom sections.`);
        }
      }
      const job = await summaries.request(facts.id, body.summary_type);
      onRequested?.();
      return { status: 202, body: presentSummaryJob(job) };
    },
  });
}

function listSummaries({ directory, summaries, templates }: SummaryOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/summaries",
    id: "listSummaries",
    tag: "Session",
    summary: "The newest summary of each type",
    description:
      "At most one for each type, so there is never a next page. Unless its workspace has switched that off (`automatic_notes`), a session gets all types but `speakers` by itself, `custom_sections` where its template wants some: when it ends, while it is live every five minutes or more, and again after its words or the names of its voices changed; then webhooks get `summary.ready`. When words of a session are redacted, its summaries are erased.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    responses: { 200: { description: "The summaries", schema: summaryPage } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.summaries"),
    async handle(_request, { facts }) {
      // First what is under way: what is ready a moment later is then told twice rather than not at all.
      const waiting = await summaries.pending(facts.id);
      const found = await summaries.latest(facts.id);
      const pending = waiting.map(({ summaryType: type, ...rest }) => ({
        summary_type: type,
        ...rest,
      }));
      const items = found.map(presentSummary);
      const { sections, ...about } = await templates.ofSession(facts.id);
      const template = { ...about, sections: [...sections] };
      return { status: 200, body: { items, next_cursor: null, pending, template } };
    },
  });
}

interface SummarisationJobOptions {
  directory: SessionStore;
  summaries: SummaryStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

const LIST = "summarisation-jobs";

/** GET /admin/jobs/summarisations and /admin/jobs/summarisations/{id}. */
export function summarisationJobRoutes(options: SummarisationJobOptions): Route[] {
  return [listJobs(options), getJob(options)];
}

function listJobs({ summaries, cursorKey }: SummarisationJobOptions): Route {
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

function getJob({ directory, summaries }: SummarisationJobOptions): Route {
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
    params: Type.Object({
      id: Type.String({ description: "UUID of the job", examples: [exampleId("job_id")] }),
    }),
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

async function textOf(summaries: SummaryStore, job: SummaryJob): Promise<string> {
  const text = await summaries.text(job.id);
  // A completed job without words lost them to a redaction.
  return text ?? (job.status === "completed" ? REDACTED_SPAN : "");
}

function placeholderOf(job: SummaryJob): string {
  return job.sessionDeleted ? deletionPlaceholder(job.deletionKind) : HIDDEN;
}

interface CreateSummaryOptions extends Pick<SummaryOptions, "onRequested"> {
  directory: SessionStore;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
}

/** Summaries that are asked for; whoever makes them is told. */
export function createSummaries(
  { pool, cursorKey, notifier }: FeatureContext,
  parts: CreateSummaryOptions,
) {
  const { directory, workspaces } = parts;
  const summaries = new SummaryStore(pool);
  const templates = new TemplateStore(pool);
  return {
    /** The newest ones, as the session's template arranges them. */
    notes: async (sessionId: string) =>
      arrangeNotes(await templates.ofSession(sessionId), await summaries.latest(sessionId)),
    routes: [
      ...summaryRoutes({ ...parts, summaries, templates }),
      ...templateRoutes({ workspaces, templates }),
      ...actionItemRoutes({ directory, notifier, actionItems: new ActionItemStore(pool) }),
      ...summarisationJobRoutes({ directory, summaries, cursorKey }),
    ],
  };
}
