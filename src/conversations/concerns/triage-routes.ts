import { type Static, Type } from "@sinclair/typebox";
import { maySession, type SessionAction } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, behind, unknownThing } from "../../base/errors.ts";
import { derivedId, isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { expectedUpdate, staleEdit } from "../../rest/representations.ts";
import { defineRoute, HUMAN_ROLES, type Request, type Route } from "../../rest/route.ts";
import type { FeatureContext, SessionActors } from "../context.ts";
import { assertAllowed, requireSession, type SessionGrant } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import {
  concernCategory,
  concernParams,
  concernRoutes,
  concernSchema,
  concernStatus,
  presentConcern,
} from "./routes.ts";
import { type ConcernRecord, ConcernStore, type Span } from "./store.ts";

interface TriageOptions {
  directory: SessionStore;
  concerns: ConcernStore;
  actors: SessionActors;
  cursorKey: Uint8Array;
}

const triageBody = Type.Object(
  {
    status: Type.Optional(concernStatus),
    resolution: Type.Optional(Type.String({ maxLength: 2_000 })),
    redact: Type.Optional(
      Type.Boolean({
        description: "With `resolved`: take the words of the concern's span out for good",
      }),
    ),
  },
  { examples: [{ status: "resolved", resolution: "The name was corrected." }] },
);

/** GET /concerns; GET and PATCH /concerns/{concern_id}. */
function triageRoutes(options: TriageOptions): Route[] {
  return [listConcerns(options), getConcern(options), triageConcern(options)];
}

interface ConcernGrant extends SessionGrant {
  concern: ConcernRecord;
}

/**
 * Returns the concern if the caller may do this to its session. Throws 404 for an unknown one, 403
 * when the caller has no such right.
 */
async function requireConcern(
  { concerns, directory }: TriageOptions,
  caller: Principal | undefined,
  id: string,
  action: SessionAction,
): Promise<ConcernGrant> {
  const asking = requirePrincipal(caller);
  const concern = isId(id) ? await concerns.find(id) : undefined;
  if (concern === undefined) throw unknownThing("concern", id);
  const looked = requireSession(directory, asking, concern.sessionId, action);
  const grant = await behind("concern", id, looked);
  if (asking.kind === "guest" && concern.raisedBy.id !== asking.id) {
    throw new AppError("forbidden", "Guests see the concerns that they raised.");
  }
  return { ...grant, concern };
}

function listConcerns({ concerns, cursorKey }: TriageOptions): Route {
  return defineRoute({
    method: "get",
    path: "/concerns",
    id: "listConcerns",
    tag: "Concerns",
    summary: "Concerns that the caller may triage or raised, newest first",
    description:
      "Administrators see all of them, with texts only of sessions to which they have native access.",
    auth: ["bearer"],
    query: Type.Object({
      ...pageQuery,
      session_id: Type.Optional(Type.String()),
      workspace_id: Type.Optional(Type.String()),
      status: Type.Optional(concernStatus),
      category: Type.Optional(concernCategory),
    }),
    responses: { 200: { description: "A page", schema: pageSchema(concernSchema) } },
    errors: ["forbidden"],
    async handle({ principal, query }) {
      const caller = requirePrincipal(principal);
      const filter = {
        sessionId: filterId("session_id", query.session_id),
        workspaceId: filterId("workspace_id", query.workspace_id),
        status: query.status,
        category: query.category,
      };
      const page = toPageRequest(cursorKey, "concerns", query);
      const found = await concerns.listFor(caller, filter, page);
      const body = toPageBody(cursorKey, "concerns", found, (each) =>
        presentConcern(each, each.readable),
      );
      return { status: 200, body };
    },
  });
}

function getConcern(options: TriageOptions): Route {
  return defineRoute({
    method: "get",
    path: "/concerns/{concern_id}",
    id: "getConcern",
    tag: "Concerns",
    summary: "One concern",
    auth: ["bearer"],
    params: concernParams,
    responses: { 200: { description: "The concern", schema: concernSchema } },
    errors: ["forbidden", "elevation_required", "guest_access_closed"],
    resolve: ({ principal, params }) =>
      requireConcern(options, principal, params.concern_id, "session.content"),
    async handle(_request, { concern }) {
      return { status: 200, body: presentConcern(concern, true) };
    },
  });
}

function triageConcern(options: TriageOptions): Route {
  return defineRoute({
    method: "patch",
    path: "/concerns/{concern_id}",
    id: "triageConcern",
    tag: "Concerns",
    throughActor: true,
    summary: "Acknowledge, resolve, dismiss or reopen a concern",
    description:
      "By the session's owner, a moderator of its workspace, or an administrator. A privacy concern that points at a segment or a span is resolved for good with `redact`: the words there are taken out of the transcript, and no later reading brings them back.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: concernParams,
    body: { kind: "json", schema: triageBody },
    responses: { 200: { description: "The concern as it stands", schema: concernSchema } },
    errors: ["conflict", "session_deleted"],
    resolve: ({ principal, params }) =>
      requireConcern(options, principal, params.concern_id, "session.triage"),
    async handle(request, grant: ConcernGrant) {
      const { body } = request;
      const { concern, principal } = grant;
      const redact = wantsRedaction(grant, body);
      if (body.status === undefined && body.resolution === undefined) {
        throw new AppError("invalid_body", "Send `status`, `resolution`, or both.");
      }
      const redactionId = redact ? await redactSpan(options, grant, request) : undefined;
      const change = {
        status: body.status,
        resolution: body.resolution?.trim(),
        redactionId,
        handledById: principal.id,
      };
      const changed = await options.concerns.change(concern.id, change, expectedUpdate(request));
      if (changed === undefined) throw staleEdit();
      return { status: 200, body: presentConcern(changed, readsNatively(grant)) };
    },
  });
}

/**
 * Whether the caller may read without an elevation: an answer to a change is not recorded as a
 * reading.
 */
function readsNatively({ principal, facts }: SessionGrant): boolean {
  return (
    maySession(principal, "session.content", { ...facts, elevatedUntil: undefined }) === "allow"
  );
}

function wantsRedaction(
  { principal, facts }: SessionGrant,
  { redact, status }: Static<typeof triageBody>,
): boolean {
  if (redact !== true) return false;
  assertAllowed(maySession(principal, "session.redact", facts));
  if (status === "resolved") return true;
  throw new AppError("invalid_body", "`redact` goes with the status `resolved`.");
}

/** Redacts the words of the span; repeatable. The redaction writes its own audit entry. */
async function redactSpan(
  { actors }: TriageOptions,
  { concern, principal }: ConcernGrant,
  request: Pick<Request, "commandId">,
): Promise<string> {
  const { category, id, sessionId, span } = concern;
  if (category !== "privacy" || span === undefined) {
    throw new AppError(
      "conflict",
      "Only a privacy concern that points at a segment or a span can be resolved by redacting.",
    );
  }
  const redactionId = concern.redactionId ?? derivedId("redaction", id);
  const { from, to } = concern.segmentId === undefined ? inside(span) : span;
  const command = {
    type: "Redact" as const,
    redactionId,
    from,
    to,
    label: "",
    byUserId: principal.id,
  };
  await actors.ask(sessionId, command, commandIdOf(request));
  return redactionId;
}

/**
 * Shrinks the span by half a millisecond on both sides: times are shown rounded, and a segment that
 * only touches the span does not belong to it.
 */
function inside({ from, to }: Span): Span {
  return to - from > 16 ? { from: from + 8, to: to - 8 } : { from, to };
}

/** What somebody finds wrong with a session, and what moderators make of it. */
export function createConcerns(
  { pool, cursorKey, notifier, actors }: FeatureContext,
  { directory }: { directory: SessionStore },
) {
  const concerns = new ConcernStore(pool);
  return {
    routes: [
      ...concernRoutes({ directory, concerns, notifier, cursorKey }),
      ...triageRoutes({ directory, concerns, actors, cursorKey }),
    ],
  };
}
