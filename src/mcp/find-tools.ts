import { type Static, Type } from "@sinclair/typebox";
import type { SearchPage } from "../conversations/questions/search.ts";
import type { SessionPage } from "../conversations/sessions/list.ts";
import { clockTime } from "../wire/clock-time.ts";
import {
  DEFAULT,
  nextCursor,
  pageArguments,
  sessionArguments,
  toFilter,
} from "./list-arguments.ts";
import {
  citationLine,
  counted,
  moreLines,
  NOTICE,
  notice,
  passageMembers,
  quoted,
  toPassage,
} from "./recorded-words.ts";
import { defineTool } from "./tool.ts";

const MOST = 50;

const sessionSchema = Type.Object({
  session_id: Type.String(),
  workspace_id: Type.String(),
  title: Type.String(),
  status: Type.String(),
  language: Type.String({ description: "BCP 47" }),
  started_at: Type.String({ description: "RFC 3339, UTC" }),
  duration_ms: Type.Optional(
    Type.Integer({ description: "Length of its sound, milliseconds; absent until it is known" }),
  ),
  tags: Type.Array(Type.String()),
});

/** Lists sessions: what GET /sessions lists for the caller. */
export const findSessions = defineTool({
  name: "find_sessions",
  title: "Find sessions",
  description:
    "Lists recorded conversations (sessions) that the caller may see, the newest first: by title, speaker, days, tags and state. Titles only; to find by what was said use search_transcripts.",
  input: Type.Object({
    title: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: "\\S",
        description: "Words that each begin a word of the title",
      }),
    ),
    ...sessionArguments,
    ...pageArguments(MOST),
  }),
  output: Type.Object({
    notice,
    sessions: Type.Array(sessionSchema),
    next_cursor: nextCursor,
  }),
  async run({ title, workspace_id, limit = DEFAULT, cursor, ...chosen }, { call }) {
    const query = { title, workspace_id, limit, cursor, ...toFilter(chosen) };
    const { items, next_cursor } = await call<SessionPage>("listSessions", { query });
    const sessions = items.map(presentSession);
    const lines = [`${counted(sessions.length, "session")}. ${NOTICE}`, ...sessions.map(lineOf)];
    return {
      found: { notice: NOTICE, sessions, next_cursor },
      lines: [...lines, ...moreLines(next_cursor)],
    };
  },
});

function presentSession(item: SessionPage["items"][number]): Static<typeof sessionSchema> {
  const { id, workspace_id, title, status, language, started_at, duration_ms, tags } = item;
  return {
    ...{ session_id: id, workspace_id, title, status, language, started_at },
    ...(duration_ms === undefined ? {} : { duration_ms }),
    tags: tags ?? [],
  };
}

function lineOf(session: Static<typeof sessionSchema>): string {
  const { session_id, title, status, started_at, duration_ms } = session;
  const length = duration_ms === undefined ? "" : `, ${clockTime(duration_ms / 1_000)} long`;
  return quoted(`[session ${session_id}, ${status}, ${started_at}${length}]`, `“${title}”`);
}

/** Searches what was said, in one workspace or in all that a person may read. */
export const searchTranscripts = defineTool({
  name: "search_transcripts",
  title: "Search transcripts",
  description:
    "Finds segments of transcripts in which words were said, in all their forms, the best fit first, each with session, segment, time and speaker to cite.",
  input: Type.Object({
    words: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: "\\S",
      description: 'Words that must all occur; "a phrase", `or` and -not as in a search engine',
    }),
    session_id: Type.Optional(Type.String({ description: "In this session only" })),
    ...sessionArguments,
    ...pageArguments(MOST),
  }),
  output: Type.Object({
    notice,
    hits: Type.Array(
      Type.Object({
        ...passageMembers,
        session_title: Type.String(),
        said_at: Type.String({ description: "When it was said: RFC 3339, UTC" }),
      }),
    ),
    next_cursor: nextCursor,
  }),
  async run({ words, session_id, workspace_id, limit = DEFAULT, cursor, ...chosen }, caller) {
    const { principal, call } = caller;
    const query = { q: words, session_id, limit, cursor, ...toFilter(chosen) };
    const id =
      principal.kind === "service" ? (workspace_id ?? principal.workspaceId) : workspace_id;
    const { items, next_cursor } =
      id === undefined
        ? await call<SearchPage>("searchSessions", { query })
        : await call<SearchPage>("searchWorkspace", { params: { id }, query });
    const hits = items.map((hit) => {
      const { session_title, said_at } = hit;
      return { ...toPassage(hit), session_title, said_at };
    });
    const lines = [`${counted(hits.length, "segment")}. ${NOTICE}`, ...hits.map(citationLine)];
    return {
      found: { notice: NOTICE, hits, next_cursor },
      lines: [...lines, ...moreLines(next_cursor)],
    };
  },
});
