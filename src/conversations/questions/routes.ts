import { type Static, Type } from "@sinclair/typebox";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { requireSession, type SessionGrant } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import { askSession, askWorkspace, MAX_QUESTION, type QuestionOptions } from "./ask.ts";
import { type AskableWorkspace, requireAskableWorkspace } from "./askable.ts";
import type { QuestionAnswer } from "./by-rule.ts";

export interface QueryOptions extends QuestionOptions {
  directory: SessionStore;
}

/** POST /sessions/{session_id}/hirag-query, POST /workspaces/{id}/agentic-query. */
export function queryRoutes(options: QueryOptions): Route[] {
  return [querySession(options), queryWorkspace(options)];
}

const querySchema = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: MAX_QUESTION,
      pattern: "\\S",
      description: "A question in plain words; quotation marks ask for exactly these words",
      examples: ["What did Anna say about the budget?"],
    }),
  },
  { $id: "Question" },
);

const citationSchema = Type.Object(
  {
    session_id: Type.String(),
    segment_id: Type.String(),
    start_ms: Type.Integer({ description: "On the session's timeline" }),
    end_ms: Type.Integer(),
    speaker_label: Type.String({ examples: ["S1"] }),
    speaker_name: Type.Optional(
      Type.String({ description: "Of the person who claimed the label", examples: ["Anna"] }),
    ),
    text: Type.String({ description: "The whole segment, as it was recognised or corrected" }),
  },
  { $id: "Citation" },
);

const answerSchema = Type.Object(
  {
    answer: Type.String({
      examples: ["Anna said at 00:01: “Let us begin with the budget.”"],
    }),
    tools_used: Type.Array(Type.String(), {
      description: "What was really used, in order",
      examples: [["segment_reader", "speaker_filter", "hierarchical_retrieval"]],
    }),
    citations: Type.Array(citationSchema, {
      description:
        "The segments that the answer quotes or counts; none when nothing was found. GET /sessions/{session_id}/audio tells how to hear one",
    }),
    model: Type.Optional(
      Type.String({
        description:
          "The language model whose sentences the answer consists of; absent where it is by rule",
        examples: ["llama3.1:8b"],
      }),
    ),
  },
  { $id: "Answer" },
);

export type Answer = Static<typeof answerSchema>;

const DESCRIPTION =
  "The answer quotes what was said, with who said it and when, and invents nothing; when nothing fits it says so and cites nothing. Questions are understood in English: who (`What did Anna say about …`), when (`at the beginning`, `in the last 10 minutes`), how often, who spoke, decisions, promises, summaries; in other languages all words are searched for.";

const BY_MODEL =
  "Where the operator has set up a language model that calls tools, and the workspace's text may be given to it, that looks for the answer: with at most eight calls of tools which read what the caller may read, `full_text_search` among them. Every sentence of it cites segments and is compared with them; what they do not bear is dropped. `model` names it then. Where nothing is left, it does not answer in time or at all, or its tokens of the day are used up, the answer is by rule, and `tools_used` has what both did.";

function presentAnswer({ text, toolsUsed, citations, model }: QuestionAnswer): Answer {
  return {
    answer: text,
    tools_used: toolsUsed,
    citations: citations.map((cited) => ({
      session_id: cited.sessionId,
      segment_id: cited.segmentId,
      start_ms: cited.startMs,
      end_ms: cited.endMs,
      speaker_label: cited.label,
      ...(cited.speakerName === "" ? {} : { speaker_name: cited.speakerName }),
      text: cited.text,
    })),
    ...(model === undefined ? {} : { model }),
  };
}

function querySession(options: QueryOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/hirag-query",
    id: "querySession",
    tag: "Session",
    summary: "Ask a question about one session, and get an answer that quotes it",
    description: DESCRIPTION,
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: { kind: "json", schema: querySchema },
    responses: { 200: { description: "The answer", schema: answerSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(options.directory, principal, params.session_id, "session.query"),
    async handle({ body, params, signal }, { principal }: SessionGrant) {
      const asked = { query: body.query, principal, signal };
      const answer = await askSession(options, params.session_id, asked);
      return { status: 200, body: presentAnswer(answer) };
    },
  });
}

function queryWorkspace(options: QueryOptions): Route {
  return defineRoute({
    method: "post",
    path: "/workspaces/{id}/agentic-query",
    id: "queryWorkspace",
    tag: "Workspace",
    summary: "Ask a question about all sessions of a workspace that the caller may read",
    description: `${DESCRIPTION} Here also: which sessions speak of something, and when they took place (\`last week\`, \`yesterday\`). ${BY_MODEL}`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    body: { kind: "json", schema: querySchema },
    responses: { 200: { description: "The answer", schema: answerSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) => requireAskableWorkspace(options, principal, params.id),
    async handle({ body, signal }, workspace: AskableWorkspace) {
      const asked = { query: body.query, principal: workspace.principal, signal };
      const answer = await askWorkspace(options, workspace, asked);
      return { status: 200, body: presentAnswer(answer) };
    },
  });
}
