import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { escapeHtml } from "../../base/html.ts";
import { cutPage, decodeCursor, encodeCursor, filterId, pageQuery } from "../../rest/page.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { countedPage, countFilter, tagFilter, tagsOf } from "../sessions/list-filters.ts";
import { sessionStatus } from "../sessions/schema.ts";
import {
  type AskableSessions,
  type AskableWorkspace,
  askableSessions,
  recordReads,
  requireAskableWorkspace,
  type WorkspaceQuestionOptions,
} from "./askable.ts";
import type { HitPosition, SearchHit, SearchStore } from "./search-store.ts";

interface WorkspaceSearchOptions extends WorkspaceQuestionOptions {
  search: SearchStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

const DEFAULT_LIMIT = 50;

const hitSchema = Type.Object(
  {
    session_id: Type.String(),
    session_title: Type.String({ examples: ["Weekly planning"] }),
    segment_id: Type.String(),
    start_ms: Type.Integer({ description: "On the session's timeline" }),
    end_ms: Type.Integer(),
    said_at: Type.String({ description: "RFC 3339, UTC, milliseconds" }),
    speaker_label: Type.String(),
    speaker_name: Type.Optional(Type.String({ examples: ["Anna"] })),
    text: Type.String(),
    snippet: Type.String({
      description: "HTML: the words around the match, escaped, each match in `<mark>`",
      examples: ["let us begin with the <mark>budget</mark>"],
    }),
    score: Type.Number({ description: "Higher fits better; comparable within one answer only" }),
  },
  { $id: "SearchHit" },
);

const instant = Type.String({ maxLength: 40, description: "RFC 3339" });

const searchQuery = Type.Object({
  ...pageQuery,
  q: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "\\S",
    description: 'Words that must all occur; "a phrase", `or` and -not as in a search engine',
    examples: ["budget"],
  }),
  speaker: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "A label, or a part of a name" }),
  ),
  session_id: Type.Optional(Type.String()),
  from: Type.Optional(instant),
  to: Type.Optional(instant),
  status: Type.Optional(sessionStatus),
  device_id: Type.Optional(Type.String({ description: "Recorded by this device" })),
  tag: tagFilter,
  count: countFilter,
});

const searchEverywhereQuery = Type.Composite([
  searchQuery,
  Type.Object({ workspace_id: Type.Optional(Type.String()) }),
]);

const hitsSchema = countedPage(hitSchema, "SearchHits");

export type SearchPage = Static<typeof hitsSchema>;

const DESCRIPTION =
  "Segments, the best fit first. Words match in all their forms where the session's language has a dictionary.";

/** GET /workspaces/{id}/search, GET /search. */
export function searchRoutes(options: WorkspaceSearchOptions): Route[] {
  return [searchWorkspace(options), searchSessions(options)];
}

function searchWorkspace(options: WorkspaceSearchOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}/search",
    id: "searchWorkspace",
    tag: "Workspace",
    summary: "Full-text search in the sessions of a workspace that the caller may read",
    description: DESCRIPTION,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    query: searchQuery,
    responses: { 200: { description: "A page of segments", schema: hitsSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) => requireAskableWorkspace(options, principal, params.id),
    async handle({ query }, workspace: AskableWorkspace) {
      const list = `search:${workspace.workspaceId}`;
      return { status: 200, body: await find(options, workspace, { query, list }) };
    },
  });
}

function searchSessions(options: WorkspaceSearchOptions): Route {
  return defineRoute({
    method: "get",
    path: "/search",
    id: "searchSessions",
    tag: "Session",
    summary: "Full-text search in all sessions that the caller may read, in whatever workspace",
    description: `${DESCRIPTION} To an administrator also those that an elevation in force covers.`,
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    query: searchEverywhereQuery,
    responses: { 200: { description: "A page of segments", schema: hitsSchema } },
    resolve: ({ principal }) => askableSessions(options, principal),
    async handle({ query }, { principal, sessions }: AskableSessions) {
      const workspaceId = filterId("workspace_id", query.workspace_id);
      const wanted = sessions.filter(
        (each) => workspaceId === undefined || each.workspaceId === workspaceId,
      );
      const asked = { query, list: `search\u0000${workspaceId ?? ""}` };
      return { status: 200, body: await find(options, { principal, sessions: wanted }, asked) };
    },
  });
}

interface AskedSearch {
  query: Static<typeof searchQuery>;
  /** Names the list for its cursors. */
  list: string;
}

async function find(
  options: WorkspaceSearchOptions,
  askable: AskableSessions,
  { query, list }: AskedSearch,
): Promise<Static<typeof hitsSchema>> {
  const { cursorKey, search } = options;
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = positionOf(cursorKey, list, query.cursor);
  const filter = {
    text: query.q,
    speaker: query.speaker?.trim(),
    from: instantOf("from", query.from),
    to: instantOf("to", query.to),
    tags: tagsOf(query.tag),
    status: query.status,
    deviceId: filterId("device_id", query.device_id),
  };
  const ids = wantedSessions(askable, filterId("session_id", query.session_id));
  const [hits, total] = await Promise.all([
    search.search(ids, filter, { after, limit: limit + 1 }),
    query.count ? search.count(ids, filter) : undefined,
  ]);
  const { page, last } = cutPage(hits, limit);
  await recordReads(
    options,
    askable,
    page.map(({ sessionId }) => sessionId),
  );
  const next_cursor = last === undefined ? null : encodePosition(cursorKey, list, last);
  return { items: page.map(presentHit), next_cursor, total };
}

/** Ids of the sessions to search. A session that the caller may not read yields no hits. */
function wantedSessions({ sessions }: AskableSessions, wanted: string | undefined): string[] {
  const ids = sessions.map(({ id }) => id);
  return wanted === undefined ? ids : ids.filter((id) => id === wanted);
}

function instantOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(value)
    ? Date.parse(value)
    : NaN;
  if (Number.isFinite(time)) return time;
  throw new AppError(
    "invalid_parameter",
    `${name} must be a time as in RFC 3339, for example 2026-01-31T09:30:00Z.`,
  );
}

function encodePosition(
  key: Uint8Array,
  list: string,
  { rank, sessionId, segmentId }: HitPosition,
): string {
  return encodeCursor(key, list, [String(rank), sessionId, segmentId]);
}

function positionOf(
  key: Uint8Array,
  list: string,
  cursor: string | undefined,
): HitPosition | undefined {
  if (cursor === undefined) return undefined;
  const [rank, sessionId = "", segmentId = ""] = decodeCursor(key, list, cursor);
  return { rank: Number(rank), sessionId, segmentId };
}

function presentHit(hit: SearchHit): Static<typeof hitSchema> {
  const parts = hit.snippet.map(({ text, isMatch }) =>
    isMatch ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text),
  );
  return {
    session_id: hit.sessionId,
    session_title: hit.title,
    segment_id: hit.segmentId,
    start_ms: hit.startMs,
    end_ms: hit.endMs,
    said_at: toTimestamp(hit.at),
    speaker_label: hit.label,
    ...(hit.speakerName === "" ? {} : { speaker_name: hit.speakerName }),
    text: hit.text,
    snippet: parts.join(""),
    score: hit.rank,
  };
}
