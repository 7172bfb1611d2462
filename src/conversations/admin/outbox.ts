import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import type { ParkedCommandStore, ParkedRecord } from "../../postgres/parked-commands.ts";
import { requireUser } from "../../rest/callers.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";

interface OutboxOptions {
  parked: ParkedCommandStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

const MOST_IDS = 100;

const parkedSchema = Type.Object(
  {
    id: Type.String(),
    session_id: Type.String(),
    type: Type.String({ description: "Type of the command", examples: ["ChunkStored"] }),
    attempts: Type.Integer({ minimum: 0, description: "Deliveries that failed" }),
    created_at: timestamp,
    parked_at: timestamp,
    reason: Type.String({
      description: "What went wrong last",
      examples: ["internal: Cannot read properties of undefined (reading 'end')"],
    }),
  },
  { $id: "ParkedCommand" },
);

const ids = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: MOST_IDS,
  uniqueItems: true,
  description: "Of parked commands",
});

const retryBody = Type.Object(
  {
    ids: Type.Optional(ids),
    all: Type.Optional(
      Type.Literal(true, { description: "Every parked command, in place of `ids`" }),
    ),
  },
  { examples: [{ all: true }] },
);

const countSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.String({ examples: ["1 command will be tried again."] }),
    count: Type.Integer({ minimum: 0, description: "Parked commands that were found" }),
  },
  { $id: "ParkedCommandCount" },
);

/** GET /admin/outbox and POST /admin/outbox/retry and /admin/outbox/drop. */
export function outboxRoutes(options: OutboxOptions): Route[] {
  return [listParked(options), retryParked(options), dropParked(options)];
}

function present(record: ParkedRecord): Static<typeof parkedSchema> {
  return {
    id: record.id,
    session_id: record.sessionId,
    type: record.type,
    attempts: record.attempts,
    created_at: toTimestamp(record.createdAt),
    parked_at: toTimestamp(record.parkedAt),
    reason: record.reason,
  };
}

function listParked({ parked, cursorKey }: OutboxOptions): Route {
  return defineRoute({
    method: "get",
    path: "/admin/outbox",
    id: "listParkedCommands",
    tag: "Admin",
    summary: "Commands to sessions that were put aside, newest first",
    description:
      "A command whose delivery failed ten times by its own fault, or as its session could not be loaded, waits here until somebody retries or drops it. Later commands of its session go on. Ids and numbers only.",
    auth: ["bearer"],
    roles: ["admin"],
    query: Type.Object(pageQuery),
    responses: { 200: { description: "A page of commands", schema: pageSchema(parkedSchema) } },
    async handle({ query }) {
      const found = await parked.list(toPageRequest(cursorKey, "outbox", query));
      return { status: 200, body: toPageBody(cursorKey, "outbox", found, present) };
    },
  });
}

function retryParked({ parked }: OutboxOptions): Route {
  return defineRoute({
    method: "post",
    path: "/admin/outbox/retry",
    id: "retryParkedCommands",
    tag: "Admin",
    summary: "Try parked commands again",
    description: "Those named by `ids`, or with `all` every one; within seconds.",
    auth: ["bearer"],
    roles: ["admin"],
    body: { kind: "json", schema: retryBody },
    responses: { 200: { description: "They are under way", schema: countSchema } },
    errors: ["not_found"],
    async handle({ principal, body }) {
      const admin = requireUser(principal);
      if ((body.ids === undefined) === (body.all === undefined)) {
        throw new AppError("invalid_body", "Give either `ids` or `all`.");
      }
      const choice = body.ids === undefined ? "all" : { ids: body.ids.filter(isId) };
      const count = await parked.retry(choice, actorOf(admin));
      if (choice !== "all") assertFound(count);
      return answer(count, "again");
    },
  });
}

function dropParked({ parked }: OutboxOptions): Route {
  return defineRoute({
    method: "post",
    path: "/admin/outbox/drop",
    id: "dropParkedCommands",
    tag: "Admin",
    summary: "Give parked commands up for good",
    description:
      "They are never carried out. A stored chunk that its session was never told of because of that is marked `failed`.",
    auth: ["bearer"],
    roles: ["admin"],
    body: { kind: "json", schema: Type.Object({ ids }) },
    responses: {
      200: {
        description: "They are gone",
        schema: countSchema,
        example: { message: "1 command dropped for good." },
      },
    },
    errors: ["not_found"],
    async handle({ principal, body }) {
      const admin = requireUser(principal);
      const count = await parked.drop(body.ids.filter(isId), actorOf(admin));
      assertFound(count);
      return answer(count, "never");
    },
  });
}

function assertFound(count: number): void {
  if (count === 0) throw new AppError("not_found", "There is no parked command with such an id.");
}

function answer(count: number, when: "again" | "never") {
  const commands = count === 1 ? "1 command" : `${count} commands`;
  const message =
    when === "again" ? `${commands} will be tried again.` : `${commands} dropped for good.`;
  return { status: 200, body: { success: true as const, message, count } };
}
