import { type Static, Type } from "@sinclair/typebox";
import { maySession } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import { exampleId } from "../../rest/example-values.ts";
import { expectedOf, staleEdit } from "../../rest/representations.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { assertAllowed, requireSession } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { ActionItem, ActionItemStore } from "./action-items-store.ts";

const actionItemSchema = Type.Object(
  {
    id: Type.String({ examples: [exampleId("item_id")] }),
    text: Type.String({ description: "What is to be done, as it was said" }),
    segment_ids: Type.Array(Type.String(), { description: "The segments that say so" }),
    start_ms: Type.Integer({ description: "Where the first of them begins" }),
    speaker: Type.Optional(Type.String({ description: "Name or label of who said it" })),
    owner: Type.Optional(Type.String({ description: "Who will do it", examples: ["Ben"] })),
    due: Type.Optional(Type.String({ description: "By when", examples: ["by Wednesday"] })),
    done: Type.Boolean({ description: "Whether somebody said that it is done" }),
  },
  { $id: "ActionItem" },
);

const params = Type.Object({ session_id: Type.String(), item_id: Type.String() });
const PATH = "/sessions/{session_id}/action-items/{item_id}";
const edited = (description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Null()], { description }));

interface ActionItemOptions {
  directory: SessionStore;
  actionItems: ActionItemStore;
  notifier: CommandNotifier;
}

/** GET and PATCH /sessions/{id}/action-items/{item_id}. */
export function actionItemRoutes(options: ActionItemOptions): Route[] {
  return [getActionItem(options), editActionItem(options)];
}

function getActionItem({ directory, actionItems }: ActionItemOptions): Route {
  return defineRoute({
    method: "get",
    path: PATH,
    id: "getActionItem",
    tag: "Session",
    summary: "One action item of a session's newest notes",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params,
    responses: { 200: { description: "The item as it stands", schema: actionItemSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params: { session_id: sessionId } }) =>
      requireSession(directory, principal, sessionId, "session.summaries"),
    async handle({ params: { item_id: itemId } }, { facts }) {
      const item = isId(itemId) ? await actionItems.find(facts.id, itemId) : undefined;
      if (item === undefined) throw noSuchItem();
      return { status: 200, body: presentItem(item) };
    },
  });
}

function editActionItem({ directory, actionItems, notifier }: ActionItemOptions): Route {
  return defineRoute({
    method: "patch",
    path: PATH,
    id: "editActionItem",
    tag: "Session",
    summary: "Say that an action item is done, who does it, or by when",
    description:
      "What is left out stays; null takes back what was changed, an empty text leaves nobody or no time. It is kept when the notes are made again, and erased when words of the session are redacted. The `text` of the summary stays as it was made. Viewers get `AnnotationChanged`.",
    auth: ["bearer", "service_key"],
    params,
    body: {
      kind: "json",
      schema: Type.Object({
        done: Type.Optional(Type.Boolean({ description: "Whether it is done" })),
        owner: edited("Who does it"),
        due: edited("By when"),
      }),
    },
    responses: { 200: { description: "The item as it stands", schema: actionItemSchema } },
    errors: ["elevation_required"],
    async resolve({ principal, params: { session_id: sessionId } }) {
      const grant = await requireSession(directory, principal, sessionId, "session.edit");
      // Required because the answer contains words.
      assertAllowed(maySession(grant.principal, "session.content", grant.facts));
      return grant;
    },
    async handle(request, { facts, principal }) {
      const { item_id: itemId } = request.params;
      const { done, owner, due } = request.body;
      if (done === undefined && owner === undefined && due === undefined) {
        throw new AppError("invalid_body", "Send `done`, `owner` or `due`.");
      }
      if (!isId(itemId)) throw noSuchItem();
      const expected = expectedOf(request, actionItemSchema);
      const isExpected = (item: ActionItem) =>
        expected === undefined ||
        (expected.done === item.done && expected.owner === item.owner && expected.due === item.due);
      const place = { sessionId: facts.id, itemId, byId: principal.id };
      const changed = await actionItems.change(place, { done, owner, due }, isExpected);
      if (changed === undefined) throw expected === undefined ? noSuchItem() : staleEdit();
      notifier.notify(changed.outbox);
      return { status: 200, body: presentItem(changed.item) };
    },
  });
}

function presentItem(item: ActionItem): Static<typeof actionItemSchema> {
  const { segmentIds, startMs, ...rest } = item;
  return { ...rest, segment_ids: segmentIds, start_ms: startMs };
}

function noSuchItem(): AppError {
  return new AppError("not_found", "The newest notes of this session have no such action item.");
}
