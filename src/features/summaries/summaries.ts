import { Type } from "@sinclair/typebox";
import { pageSchema } from "../../rest/page.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import { requireSession } from "../sessions/sessions-access.ts";
import type { SessionDirectory } from "../sessions/sessions-directory.ts";
import { sessionParams } from "../sessions/sessions-schema.ts";
import type { SummaryDirectory } from "./summaries-directory.ts";
import {
  presentSummary,
  presentSummaryJob,
  summaryJobSchema,
  summarySchema,
  summaryType,
} from "./summaries-schema.ts";

export interface SummaryPorts {
  directory: SessionDirectory;
  summaries: SummaryDirectory;
  /** A job was asked for and committed: whoever makes summaries may look at once. */
  onRequested?(): void;
}

/** POST and GET /sessions/{id}/summaries. */
export function summaryRoutes(ports: SummaryPorts): Route[] {
  return [requestSummary(ports), listSummaries(ports)];
}

function requestSummary({ directory, summaries, onRequested }: SummaryPorts): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/summaries",
    id: "requestSummary",
    tag: "Job",
    summary: "Ask for a summary of a session",
    description:
      "Answers with the job that makes it. While a job of the same type is queued or running, that one is the answer. Every sentence of a summary was said: the engine picks, it invents nothing. When it is there, viewers get `SummaryUpdated`. A session that still records is summarised as far as it is transcribed.",
    auth: ["bearer", "service_key"],
    roles: PEOPLE,
    params: sessionParams,
    body: { kind: "json", schema: Type.Object({ summary_type: summaryType }) },
    responses: { 202: { description: "The job that makes it", schema: summaryJobSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.summarise"),
    async handle({ body }, { facts }) {
      const job = await summaries.request(facts.id, body.summary_type);
      onRequested?.();
      return { status: 202, body: presentSummaryJob(job) };
    },
  });
}

function listSummaries({ directory, summaries }: SummaryPorts): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/summaries",
    id: "listSummaries",
    tag: "Session",
    summary: "The newest summary of each type",
    description:
      "At most one for each type, so there is never a next page. When words of a session are redacted, its summaries are erased.",
    auth: ["bearer", "service_key"],
    roles: PEOPLE,
    params: sessionParams,
    responses: { 200: { description: "The summaries", schema: pageSchema(summarySchema) } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.summaries"),
    async handle(_request, { facts }) {
      const found = await summaries.latest(facts.id);
      return { status: 200, body: { items: found.map(presentSummary), next_cursor: null } };
    },
  });
}
