import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../access/principal.ts";
import { SAMPLES_PER_MS, toMilliseconds } from "../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import {
  CONCERN_CATEGORIES,
  CONCERN_STATUSES,
  type ConcernRecord,
  type ConcernStore,
  type RaiserKind,
  type Span,
} from "./store.ts";

export const concernParams = Type.Object({
  concern_id: Type.String({ description: "UUID of the concern" }),
});

export const concernCategory = Type.Union(
  CONCERN_CATEGORIES.map((each) => Type.Literal(each)),
  { $id: "ConcernCategory" },
);
export const concernStatus = Type.Union(
  CONCERN_STATUSES.map((each) => Type.Literal(each)),
  { $id: "ConcernStatus" },
);

export const concernSchema = Type.Object(
  {
    id: Type.String(),
    session_id: Type.String(),
    category: concernCategory,
    status: concernStatus,
    content_visible: Type.Boolean({
      description: "False when the texts are closed to an administrator without an elevation",
    }),
    description: Type.Optional(
      Type.String({
        description: "Absent when not visible, and after the session was deleted",
        examples: ["The name was misheard."],
      }),
    ),
    resolution: Type.Optional(Type.String({ description: "What was done about it, or why not" })),
    segment_id: Type.Optional(Type.String()),
    start_ms: Type.Optional(Type.Integer()),
    end_ms: Type.Optional(Type.Integer()),
    raised_by: Type.Object({
      kind: Type.Union([Type.Literal("user"), Type.Literal("guest"), Type.Literal("service")]),
      id: Type.String(),
      display_name: Type.Optional(Type.String()),
    }),
    handled_by: Type.Optional(Type.String({ description: "Who changed it last" })),
    redaction_id: Type.Optional(Type.String({ description: "The redaction that resolved it" })),
    created_at: timestamp,
    updated_at: timestamp,
    closed_at: Type.Optional(timestamp),
  },
  { $id: "Concern" },
);

/** A concern as the API shows it; its texts only when `readable`. */
export function presentConcern(
  concern: ConcernRecord,
  readable: boolean,
): Static<typeof concernSchema> {
  const { span, raisedBy, closedAt } = concern;
  const shown = (text: string): string | undefined => (readable && text !== "" ? text : undefined);
  return {
    id: concern.id,
    session_id: concern.sessionId,
    category: concern.category,
    status: concern.status,
    content_visible: readable,
    description: shown(concern.description),
    resolution: shown(concern.resolution),
    segment_id: concern.segmentId,
    start_ms: span && toMilliseconds(span.from),
    end_ms: span && toMilliseconds(span.to),
    raised_by: { kind: raisedBy.kind, id: raisedBy.id, display_name: raisedBy.displayName },
    handled_by: concern.handledById,
    redaction_id: concern.redactionId,
    created_at: toTimestamp(concern.createdAt),
    updated_at: toTimestamp(concern.updatedAt),
    closed_at: closedAt === undefined ? undefined : toTimestamp(closedAt),
  };
}

interface ConcernOptions {
  directory: SessionStore;
  concerns: ConcernStore;
  notifier: CommandNotifier;
  cursorKey: Uint8Array;
}

const LATEST_MS = 2_147_483_647;

const milliseconds = Type.Integer({ minimum: 0, maximum: LATEST_MS });

const raiseBody = Type.Object(
  {
    category: concernCategory,
    description: Type.String({
      description: "What is wrong, in the caller's words",
      minLength: 1,
      maxLength: 4_000,
      pattern: "\\S",
      examples: ["My home address is read out here."],
    }),
    segment_id: Type.Optional(Type.String()),
    start_ms: Type.Optional(milliseconds),
    end_ms: Type.Optional(milliseconds),
  },
  {
    examples: [
      {
        category: "accuracy",
        description: "The name was misheard.",
        start_ms: 1_200,
        end_ms: 2_900,
      },
    ],
  },
);

/** POST and GET /sessions/{id}/concerns. */
export function concernRoutes(options: ConcernOptions): Route[] {
  return [raiseConcern(options), listSessionConcerns(options)];
}

function raiserOf({ kind, id }: Principal): { kind: RaiserKind; id: string } {
  if (kind !== "device") return { kind, id };
  throw new AppError("forbidden", "Devices raise no concerns.");
}

function spanOf({ segment_id, start_ms, end_ms }: Static<typeof raiseBody>): Span | undefined {
  if (start_ms === undefined && end_ms === undefined) return undefined;
  if (segment_id !== undefined) {
    throw new AppError("invalid_body", "Point at a `segment_id` or at a time span, not at both.");
  }
  if (start_ms === undefined || end_ms === undefined || start_ms >= end_ms) {
    throw new AppError("invalid_body", "A span has a `start_ms` and an `end_ms` after it.");
  }
  return { from: start_ms * SAMPLES_PER_MS, to: end_ms * SAMPLES_PER_MS };
}

function raiseConcern(options: ConcernOptions): Route {
  const { directory, concerns, notifier } = options;
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/concerns",
    id: "raiseConcern",
    tag: "Concerns",
    summary: "Raise a concern about a session",
    description:
      "About the whole session, one segment (`segment_id`), or a span (`start_ms` and `end_ms`). Followers of the live channel get `ConcernRaised` with its id.",
    auth: ["bearer"],
    params: sessionParams,
    body: { kind: "json", schema: raiseBody },
    responses: {
      201: {
        description: "The concern",
        schema: concernSchema,
        example: { segment_id: undefined },
      },
    },
    errors: ["forbidden"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.concern"),
    async handle({ params, body }, { principal }) {
      const segmentId = body.segment_id;
      const span = spanOf(body);
      if (segmentId !== undefined && !isId(segmentId)) {
        throw new AppError("not_found", "There is no segment with this id.");
      }
      const raised = await concerns.raise({
        id: newId(),
        sessionId: params.session_id,
        category: body.category,
        description: body.description.trim(),
        segmentId,
        span,
        raisedBy: raiserOf(principal),
      });
      notifier.notify(raised.outbox);
      // The caller wrote the text and may see it.
      return { status: 201, body: presentConcern(raised.concern, true) };
    },
  });
}

function listSessionConcerns({ directory, concerns, cursorKey }: ConcernOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/concerns",
    id: "listSessionConcerns",
    tag: "Concerns",
    summary: "Concerns about one session, newest first; for a guest those it raised",
    auth: ["bearer"],
    params: sessionParams,
    query: Type.Object(pageQuery),
    responses: { 200: { description: "A page", schema: pageSchema(concernSchema) } },
    errors: ["forbidden", "elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params, query }, { principal }) {
      const sessionId = params.session_id;
      const list = `concerns\u0000${sessionId}`;
      const page = toPageRequest(cursorKey, list, query);
      const raisedById = principal.kind === "guest" ? principal.id : undefined;
      const found = await concerns.ofSession(sessionId, raisedById, page);
      const body = toPageBody(cursorKey, list, found, (each) => presentConcern(each, true));
      return { status: 200, body };
    },
  });
}
