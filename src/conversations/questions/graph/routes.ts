import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../../access/principal.ts";
import { AppError } from "../../../base/errors.ts";
import { filterId } from "../../../rest/page.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../../rest/route.ts";
import { requireSession } from "../../sessions/access.ts";
import { sessionParams } from "../../sessions/schema.ts";
import type { SessionStore } from "../../sessions/store.ts";
import {
  type AskableWorkspace,
  recordReads,
  requireAskableWorkspace,
  type WorkspaceQuestionOptions,
} from "../askable.ts";
import type { GraphBuilder } from "./builder.ts";
import { findCommunities } from "./communities.ts";
import type { GraphFilter } from "./records.ts";
import {
  graphQuery,
  graphSchema,
  presentCommunity,
  presentEntity,
  presentRelation,
  presentStatus,
  toTypes,
} from "./schema.ts";
import type { GraphStore } from "./store.ts";

/** Most sessions in one graph; the newest are taken. */
const MAX_SESSIONS = 100;
/** Milliseconds since a session's start; the largest are thirty years. */
const MOMENT = { minimum: 0, maximum: 10 ** 12 } as const;

interface WorkspaceGraphOptions extends WorkspaceQuestionOptions {
  directory: SessionStore;
}

/** A workspace with the sessions that the caller may read. */
export interface WorkspaceScope extends AskableWorkspace {
  /** Ids of the sessions, newest first. */
  sessionIds: string[];
}

/**
 * Returns the newest sessions of a workspace that the caller may ask about, and so may see as a
 * graph.
 */
export async function requireWorkspaceScope(
  options: WorkspaceGraphOptions,
  caller: Principal | undefined,
  workspaceId: string,
): Promise<WorkspaceScope> {
  const asked = await requireAskableWorkspace(options, caller, workspaceId);
  const sessions = asked.sessions.slice(0, MAX_SESSIONS);
  return { ...asked, sessions, sessionIds: sessions.map(({ id }) => id) };
}

const MAX_RELATIONS = 1_000;
const DEFAULT_ENTITIES = 100;

const MADE_OF =
  "Made from the words by grammar and lexicon of English, when it is first asked for and again after the words have changed; a name that the recogniser did not hear is not in it. ";

export interface GraphOptions extends WorkspaceGraphOptions {
  builder: Pick<GraphBuilder, "ensure">;
  graphs: GraphStore;
  cursorKey: Uint8Array;
}

/** GET /sessions/{id}/graph, GET /workspaces/{id}/graph. */
export function graphRoutes(options: GraphOptions): Route[] {
  return [sessionGraph(options), workspaceGraph(options)];
}

function sessionGraph(options: GraphOptions): Route {
  const { directory } = options;
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/graph",
    id: "getSessionGraph",
    tag: "Graph",
    summary: "What a session is about: entities, how they hang together, and groups of them",
    description: `${MADE_OF}A first request may take some seconds.`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    query: Type.Object({
      ...graphQuery,
      from_ms: Type.Optional(Type.Integer({ ...MOMENT, description: "Said from here on" })),
      to_ms: Type.Optional(Type.Integer({ ...MOMENT, description: "Said before this" })),
    }),
    responses: { 200: { description: "The graph", schema: graphSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params, query }) {
      const session = await directory.get(params.session_id);
      if (session === undefined) throw new AppError("not_found", "The session is gone.");
      const { from_ms, to_ms } = query;
      const span = {
        ...(from_ms === undefined ? {} : { from: session.startedAt + from_ms }),
        ...(to_ms === undefined ? {} : { to: session.startedAt + to_ms }),
      };
      return readGraph(options, [session.id], { ...toFilter(query), ...span });
    },
  });
}

function workspaceGraph(options: GraphOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}/graph",
    id: "getWorkspaceGraph",
    tag: "Graph",
    summary: "What a workspace's sessions are about, as one graph",
    description: `${MADE_OF}Of the newest ${MAX_SESSIONS} sessions whose words the caller may read. The same name in several sessions is one entity.`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    query: Type.Object({
      ...graphQuery,
      session_id: Type.Optional(Type.String({ description: "Of this session only" })),
      from: Type.Optional(
        Type.String({ format: "date-time", description: "Said at or after this instant" }),
      ),
      to: Type.Optional(Type.String({ format: "date-time", description: "Said before it" })),
    }),
    responses: { 200: { description: "The graph", schema: graphSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) => requireWorkspaceScope(options, principal, params.id),
    async handle({ query }, scope: WorkspaceScope) {
      const sessionIds = narrowed(scope, filterId("session_id", query.session_id));
      await recordReads(options, scope, sessionIds);
      const span = {
        ...(query.from === undefined ? {} : { from: Date.parse(query.from) }),
        ...(query.to === undefined ? {} : { to: Date.parse(query.to) }),
      };
      return readGraph(options, sessionIds, { ...toFilter(query), ...span });
    },
  });
}

function narrowed({ sessionIds }: WorkspaceScope, sessionId: string | undefined): string[] {
  if (sessionId === undefined) return sessionIds;
  if (sessionIds.includes(sessionId)) return [sessionId];
  throw new AppError(
    "not_found",
    "There is no session with this id in this workspace that you may read.",
  );
}

const filterQuery = Type.Object(graphQuery);

function toFilter(query: Static<typeof filterQuery>): GraphFilter {
  const types = toTypes(query.type);
  return {
    limit: query.limit ?? DEFAULT_ENTITIES,
    ...(types === undefined ? {} : { types }),
    ...(query.min_mentions === undefined ? {} : { minMentions: query.min_mentions }),
    ...(query.q === undefined ? {} : { text: query.q }),
  };
}

async function readGraph(
  { builder, graphs }: GraphOptions,
  sessionIds: readonly string[],
  filter: GraphFilter,
): Promise<{ status: number; body: Static<typeof graphSchema> }> {
  const readiness = await builder.ensure(sessionIds);
  const { entities, total } = await graphs.entities(readiness.ready, filter);
  const ids = entities.map(({ id }) => id);
  const relations = await graphs.relations(readiness.ready, ids, filter, MAX_RELATIONS);
  const communities = findCommunities(entities, relations);
  const communityOf = new Map(
    communities.flatMap(({ id, entityIds }) => entityIds.map((entity) => [entity, id])),
  );
  return {
    status: 200,
    body: {
      ...presentStatus(readiness),
      entities: entities.map((entity) => {
        const community = communityOf.get(entity.id);
        const member = community === undefined ? {} : { community_id: community };
        return { ...presentEntity(entity), ...member };
      }),
      total_entities: total,
      relations: relations.map(presentRelation),
      communities: communities.map(presentCommunity),
    },
  };
}
