import { type Static, Type } from "@sinclair/typebox";
import { mayListSessions } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import {
  encodeCursor,
  filterId,
  filterInstant,
  pageQuery,
  toPositionRequest,
} from "../../rest/page.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { countedPage, countFilter, tagFilter, tagsOf } from "./list-filters.ts";
import {
  SESSION_SORTS,
  type SessionFilter,
  type SessionListStore,
  type SessionSort,
} from "./list-store.ts";
import { presentSession, sessionSchema, sessionStatus } from "./schema.ts";

interface SessionListOptions {
  list: SessionListStore;
  /** Signs the cursors. */
  cursorKey: Uint8Array;
}

const words = { minLength: 1, maxLength: 200, pattern: "\\S" };

const query = Type.Object({
  ...pageQuery,
  workspace_id: Type.Optional(Type.String()),
  status: Type.Optional(sessionStatus),
  title: Type.Optional(
    Type.String({
      ...words,
      description:
        "Words that each begin a word of the title, in any order, whatever their capitals and accents",
      examples: ["stand"],
    }),
  ),
  from: Type.Optional(
    Type.String({ format: "date-time", description: "Started at or after this instant" }),
  ),
  to: Type.Optional(Type.String({ format: "date-time", description: "Started before it" })),
  device_id: Type.Optional(Type.String({ description: "Recorded by this device" })),
  speaker: Type.Optional(
    Type.String({
      ...words,
      description:
        "Words that each begin a word of the name of one of its speakers, as GET /sessions/{session_id}/speakers shows it: that of whoever claimed the label, or the free one",
      examples: ["ada"],
    }),
  ),
  speaker_user_id: Type.Optional(
    Type.String({ description: "This account or guest claimed one of its speakers" }),
  ),
  language: Type.Optional(
    Type.String({ maxLength: 35, description: "Started with this language", examples: ["en"] }),
  ),
  external_id: Type.Optional(
    Type.String({
      maxLength: 256,
      description: "The one with this id, exactly; ids are unique within a workspace",
      examples: ["call-2026-000117"],
    }),
  ),
  tag: tagFilter,
  metadata: Type.Optional(
    Type.String({
      maxLength: 600,
      pattern: ":",
      description: "A key of `metadata`, a colon, and the text that it has, exactly",
      examples: ["customer:acme"],
    }),
  ),
  count: countFilter,
  sort: Type.Optional(
    Type.Unsafe<SessionSort>({
      type: "string",
      enum: [...SESSION_SORTS],
      description:
        "A leading minus: highest first. `external_id` goes by its bytes, sessions without one first. `title` goes by letters without their accents, `duration` by `duration_ms`, 0 where it is left out. Newest first by default",
    }),
  ),
});

const listSchema = countedPage(sessionSchema, "SessionList");

export type SessionPage = Static<typeof listSchema>;

/** GET /sessions. */
export function sessionListRoutes({ list, cursorKey }: SessionListOptions): Route[] {
  const route = defineRoute({
    method: "get",
    path: "/sessions",
    id: "listSessions",
    tag: "Session",
    summary: "Sessions that the caller may see, newest first unless sorted",
    description:
      "What several parameters ask for must all hold. A cursor goes on with the filters and the order that it was given for; `limit` may change.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    query,
    responses: { 200: { description: "A page of sessions", schema: listSchema } },
    async resolve({ principal }) {
      if (mayListSessions(requirePrincipal(principal)) === "allow") return;
      throw new AppError("forbidden", "The key's scopes do not allow this.");
    },
    async handle(request) {
      const caller = requirePrincipal(request.principal);
      const { sort, limit, cursor } = request.query;
      const filter = filterOf(request.query);
      const name = listName(filter, sort);
      const page = toPositionRequest(cursorKey, name, { limit, cursor });
      const [{ items, next }, total] = await Promise.all([
        list.list(caller, { filter, sort, ...page }),
        request.query.count ? list.count(caller, { filter }) : undefined,
      ]);
      const next_cursor = next === undefined ? null : encodeCursor(cursorKey, name, next);
      return { status: 200, body: { items: items.map(presentSession), next_cursor, total } };
    },
  });
  return [route];
}

function filterOf(asked: Static<typeof query>): SessionFilter {
  return {
    workspaceId: filterId("workspace_id", asked.workspace_id),
    status: asked.status,
    title: asked.title,
    from: filterInstant("from", asked.from),
    to: filterInstant("to", asked.to),
    deviceId: filterId("device_id", asked.device_id),
    speaker: asked.speaker,
    speakerUserId: filterId("speaker_user_id", asked.speaker_user_id),
    language: asked.language,
    externalId: asked.external_id,
    tags: tagsOf(asked.tag),
    metadata: toMetadata(asked.metadata),
  };
}

/** `key:value`; the first colon ends the key. */
function toMetadata(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined) return undefined;
  const colon = text.indexOf(":");
  return { [text.slice(0, colon)]: text.slice(colon + 1) };
}

/** The list by what it is filtered and sorted by; members that are undefined are left out. */
function listName(filter: SessionFilter, sort: SessionSort | undefined): string {
  return `sessions\u0000${JSON.stringify({ ...filter, sort })}`;
}
