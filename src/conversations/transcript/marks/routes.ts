import { type Static, Type } from "@sinclair/typebox";
import { maySession } from "../../../access/policy.ts";
import type { Principal } from "../../../access/principal.ts";
import { toTimestamp } from "../../../base/clock.ts";
import { AppError, unknownThing } from "../../../base/errors.ts";
import { isId, newId } from "../../../base/ids.ts";
import type { CommandNotifier } from "../../../postgres/outbox.ts";
import { requireUser } from "../../../rest/callers.ts";
import {
  cutPage,
  encodeCursor,
  pageQuery,
  pageSchema,
  toPositionRequest,
} from "../../../rest/page.ts";
import { expectedUpdate, staleEdit } from "../../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../../rest/route.ts";
import { timestamp } from "../../../rest/schemas.ts";
import type { FeatureContext } from "../../context.ts";
import { requireSession, type SessionGrant } from "../../sessions/access.ts";
import { sessionParams } from "../../sessions/schema.ts";
import type { SessionStore } from "../../sessions/store.ts";
import { type MarkRecord, MarkStore } from "./store.ts";

interface MarkOptions {
  directory: SessionStore;
  marks: MarkStore;
  notifier: CommandNotifier;
  /** Signs the cursors. */
  cursorKey: Uint8Array;
}

const REMOVED = "The mark is deleted.";
const LATEST_MS = 2_147_483_647;

const markParams = Type.Object({
  ...sessionParams.properties,
  mark_id: Type.String({ description: "UUID of the mark" }),
});

const atMs = Type.Integer({
  minimum: 0,
  maximum: LATEST_MS,
  description: "The moment, on the session's timeline",
  examples: [63_500],
});
const text = Type.String({
  maxLength: 2_000,
  description: "What its author wrote about the moment; may be empty",
  examples: ["Ask for the figures"],
});

const markSchema = Type.Object(
  {
    id: Type.String(),
    session_id: Type.String(),
    at_ms: atMs,
    text,
    author: Type.Object(
      { id: Type.String(), display_name: Type.Optional(Type.String()) },
      { description: "Who marked it; without a name when they have none" },
    ),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: "Mark" },
);

const markBody = Type.Object({ at_ms: atMs, text: Type.Optional(text) });
const changeBody = Type.Partial(markBody);

/** GET and POST /sessions/{id}/marks; GET, PATCH and DELETE /sessions/{id}/marks/{mark_id}. */
function markRoutes(options: MarkOptions): Route[] {
  return [
    listMarks(options),
    addMark(options),
    getMark(options),
    changeMark(options),
    removeMark(options),
  ];
}

function present(mark: MarkRecord): Static<typeof markSchema> {
  return {
    id: mark.id,
    session_id: mark.sessionId,
    at_ms: mark.atMs,
    text: mark.text,
    author: { id: mark.authorId, display_name: mark.authorName },
    created_at: toTimestamp(mark.createdAt),
    updated_at: toTimestamp(mark.updatedAt),
  };
}

function listMarks({ directory, marks, cursorKey }: MarkOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/marks",
    id: "listMarks",
    tag: "Session",
    summary: "Moments that people marked in a session, in the order of its timeline",
    description: "Whoever may read the session's words reads all of them.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    query: Type.Object(pageQuery),
    responses: { 200: { description: "A page", schema: pageSchema(markSchema) } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params, query }) {
      const list = `marks\u0000${params.session_id}`;
      const { limit, after } = toPositionRequest(cursorKey, list, query);
      const [id = "", at] = after ?? [];
      const position = after === undefined ? undefined : { id, atMs: Number(at) };
      const found = await marks.list(params.session_id, { limit: limit + 1, after: position });
      const { page, last } = cutPage(found, limit);
      const next_cursor =
        last === undefined ? null : encodeCursor(cursorKey, list, [last.id, String(last.atMs)]);
      return { status: 200, body: { items: page.map(present), next_cursor } };
    },
  });
}

function addMark({ directory, marks, notifier }: MarkOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/marks",
    id: "addMark",
    tag: "Session",
    summary: "Mark a moment of a session, while it is live or afterwards",
    description:
      "By anybody with an account who may read its words; they all see it, viewers at once by `AnnotationChanged`, and exports as Markdown and JSON have it. A session takes 500 marks. It is erased with the session, and with a redacted span that it stands in.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    body: { kind: "json", schema: markBody },
    responses: { 201: { description: "The mark", schema: markSchema } },
    errors: ["conflict", "elevation_required", "session_deleted"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params, body, principal }) {
      const { mark, outbox } = await marks.add({
        ...{ id: newId(), sessionId: params.session_id, authorId: requireUser(principal).id },
        ...{ atMs: body.at_ms, text: body.text?.trim() ?? "" },
      });
      notifier.notify(outbox);
      return { status: 201, body: present(mark) };
    },
  });
}

interface MarkGrant extends SessionGrant {
  mark: MarkRecord;
}

async function requireMark(
  { directory, marks }: MarkOptions,
  principal: Principal | undefined,
  { session_id, mark_id }: Static<typeof markParams>,
): Promise<MarkGrant> {
  const grant = await requireSession(directory, principal, session_id, "session.content");
  const mark = isId(mark_id) ? await marks.find(session_id, mark_id) : undefined;
  if (mark === undefined) throw unknownThing("mark", mark_id);
  return { ...grant, mark };
}

function getMark(options: MarkOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/marks/{mark_id}",
    id: "getMark",
    tag: "Session",
    summary: "One marked moment",
    auth: ["bearer", "service_key"],
    params: markParams,
    responses: { 200: { description: "The mark", schema: markSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) => requireMark(options, principal, params),
    handle: (_request, { mark }: MarkGrant) =>
      Promise.resolve({ status: 200, body: present(mark) }),
  });
}

function changeMark(options: MarkOptions): Route {
  return defineRoute({
    method: "patch",
    path: "/sessions/{session_id}/marks/{mark_id}",
    id: "changeMark",
    tag: "Session",
    summary: "Change a marked moment of one's own",
    description:
      "Its moment, its words or both. Others see it as it stands now; nothing is kept of before.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: markParams,
    body: { kind: "json", schema: changeBody },
    responses: { 200: { description: "The mark as it stands", schema: markSchema } },
    errors: ["elevation_required", "session_deleted"],
    async resolve({ principal, params }) {
      const grant = await requireMark(options, principal, params);
      if (grant.mark.authorId === grant.principal.id) return grant;
      throw new AppError("forbidden", "Only its author changes a mark.");
    },
    async handle(request, { mark }: MarkGrant) {
      const { at_ms, text: said } = request.body;
      const since = expectedUpdate(request);
      const change = { atMs: at_ms, text: said?.trim() };
      const changed = await options.marks.change(mark, change, since);
      if (changed === undefined) {
        throw since === undefined ? unknownThing("mark", mark.id) : staleEdit();
      }
      options.notifier.notify(changed.outbox);
      return { status: 200, body: present(changed.mark) };
    },
  });
}

function removeMark(options: MarkOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/sessions/{session_id}/marks/{mark_id}",
    id: "removeMark",
    tag: "Session",
    summary: "Delete a marked moment",
    description: "By its author, and by who may edit the session.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: markParams,
    responses: { 200: acknowledged(REMOVED) },
    errors: ["elevation_required"],
    async resolve({ principal, params }) {
      const grant = await requireMark(options, principal, params);
      const { mark, facts } = grant;
      const isTheirs = mark.authorId === grant.principal.id;
      if (isTheirs || maySession(grant.principal, "session.edit", facts) === "allow") return grant;
      throw new AppError("forbidden", "Only its author and the session's owner delete a mark.");
    },
    async handle(_request, { mark }: MarkGrant) {
      options.notifier.notify(await options.marks.remove(mark));
      return acknowledge(REMOVED);
    },
  });
}

/** Moments that people mark in sessions. */
export function createMarks(
  { pool, cursorKey, notifier }: FeatureContext,
  { directory }: { directory: SessionStore },
) {
  const marks = new MarkStore(pool);
  return { marks, routes: markRoutes({ directory, marks, notifier, cursorKey }) };
}
