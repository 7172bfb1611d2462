import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../../base/errors.ts";
import { isId } from "../../../base/ids.ts";
import { exampleId } from "../../../rest/example-values.ts";
import { cutPage, decodeCursor, encodeCursor, pageQuery } from "../../../rest/page.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../../rest/route.ts";
import { recordReads } from "../askable.ts";
import type { EntityRecord, GraphEdge, MentionPosition, MentionRecord } from "./records.ts";
import { type GraphOptions, requireWorkspaceScope, type WorkspaceScope } from "./routes.ts";
import {
  EXAMPLES,
  entitySchema,
  mentionSchema,
  presentEntity,
  presentMention,
  presentRelation,
  presentSpoken,
  presentStatus,
  readinessSchema,
  relationSchema,
  spokenSchema,
} from "./schema.ts";

const NEIGHBOURS = 50;
/** Most ties that a path search uses; the strongest are kept. */
const MAX_EDGES = 20_000;
const MAX_STEP_RELATIONS = 500;

/** GET /workspaces/{id}/graph/entities/{entity_id}, GET /workspaces/{id}/graph/path. */
export function graphEntityRoutes(options: GraphOptions): Route[] {
  return [entityDetail(options), pathBetween(options)];
}

const unknownEntity = (): AppError =>
  new AppError("not_found", "There is no entity with this id in the sessions you may read.");

interface EntityScope extends WorkspaceScope {
  entity: EntityRecord;
}

function entityDetail(options: GraphOptions): Route {
  const { graphs, cursorKey } = options;
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}/graph/entities/{entity_id}",
    id: "getGraphEntity",
    tag: "Graph",
    summary: "One entity: where it is mentioned, and what it hangs together with",
    description:
      "`items` are its mentions by session and time, a page at a time. Ids come from the graphs of the workspace and its sessions.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String(), entity_id: Type.String() }),
    query: Type.Object(pageQuery),
    responses: {
      200: {
        description: "The entity with a page of its mentions",
        schema: Type.Object({
          entity: entitySchema,
          relations: Type.Array(relationSchema, {
            description: `Its strongest relations, at most ${NEIGHBOURS}`,
          }),
          neighbours: Type.Array(entitySchema, {
            description: "The other ends of these relations",
            examples: [EXAMPLES.slice(1)],
          }),
          items: Type.Array(mentionSchema),
          next_cursor: Type.Union([Type.String(), Type.Null()]),
        }),
      },
    },
    errors: ["elevation_required"],
    async resolve({ principal, params }): Promise<EntityScope> {
      const scope = await requireWorkspaceScope(options, principal, params.id);
      const entity = isId(params.entity_id)
        ? await graphs.entity(scope.sessionIds, params.entity_id)
        : undefined;
      if (entity === undefined) throw unknownEntity();
      return { ...scope, entity };
    },
    async handle({ query }, scope) {
      const { entity, sessionIds } = scope;
      const list = `graph:${entity.id}`;
      const limit = query.limit ?? 50;
      const after = toPosition(cursorKey, list, query.cursor);
      await recordReads(options, scope, sessionIds);
      const rows = await graphs.mentions(sessionIds, entity.id, { after, limit: limit + 1 });
      const { page, last } = cutPage(rows, limit);
      const relations = await graphs.relationsOf(sessionIds, entity.id, NEIGHBOURS);
      const others = relations.map(({ sourceId, targetId }) =>
        sourceId === entity.id ? targetId : sourceId,
      );
      const neighbours = await graphs.entitiesById(sessionIds, [...new Set(others)]);
      return {
        status: 200,
        body: {
          entity: presentEntity(entity),
          relations: relations.map(presentRelation),
          neighbours: neighbours.map(presentEntity),
          items: page.map(presentMention),
          next_cursor: last === undefined ? null : cursorAfter(cursorKey, list, last),
        },
      };
    },
  });
}

function toPosition(
  cursorKey: Uint8Array,
  list: string,
  cursor: string | undefined,
): MentionPosition | undefined {
  if (cursor === undefined) return undefined;
  const [sessionId = "", start, segmentId = "", spoke] = decodeCursor(cursorKey, list, cursor);
  return { sessionId, start: Number(start), segmentId, spoke: spoke === "true" };
}

function cursorAfter(cursorKey: Uint8Array, list: string, mention: MentionRecord): string {
  const { sessionId, start, segmentId, spoke } = mention;
  return encodeCursor(cursorKey, list, [sessionId, String(start), segmentId, String(spoke)]);
}

const stepSchema = Type.Object(
  {
    source_id: Type.String({ examples: [exampleId("entity_id")] }),
    target_id: Type.String(),
    relations: Type.Array(relationSchema, { description: "The strongest first" }),
    segments: Type.Array(spokenSchema, { description: "Where the two meet" }),
  },
  { $id: "GraphStep" },
);

const pathSchema = Type.Composite(
  [
    readinessSchema,
    Type.Object({
      entities: Type.Array(entitySchema, {
        description: "From the one to the other; empty when nothing connects them",
        examples: [EXAMPLES],
      }),
      steps: Type.Array(stepSchema, { description: "One for each two neighbours" }),
    }),
  ],
  { $id: "GraphPath" },
);

function pathBetween(options: GraphOptions): Route {
  const { graphs, builder } = options;
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}/graph/path",
    id: "getGraphPath",
    tag: "Graph",
    summary: "How two entities are connected, with the segments that connect them",
    description: "The path of fewest steps; of several, the one with the strongest ties.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: Type.String() }),
    query: Type.Object({
      from: Type.String({
        maxLength: 100,
        description: "Id of an entity",
        examples: [exampleId("entity_id")],
      }),
      to: Type.String({
        maxLength: 100,
        description: "Id of another",
        examples: [exampleId("target_id")],
      }),
    }),
    responses: { 200: { description: "The path", schema: pathSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) => requireWorkspaceScope(options, principal, params.id),
    async handle({ query }, scope) {
      const { from, to } = query;
      if (!isId(from) || !isId(to)) throw unknownEntity();
      const readiness = await builder.ensure(scope.sessionIds);
      const ends = await graphs.entitiesById(readiness.ready, [from, to]);
      if (ends.length < 2) throw unknownEntity();
      await recordReads(options, scope, readiness.ready);
      const edges = await graphs.edges(readiness.ready, MAX_EDGES);
      const ids = shortestPath(edges, from, to);
      const entities = await graphs.entitiesById(readiness.ready, ids);
      const steps = await readSteps(options, readiness.ready, ids);
      return {
        status: 200,
        body: { ...presentStatus(readiness), entities: entities.map(presentEntity), steps },
      };
    },
  });
}

/** Reads the relations between neighbours on a path, with their evidence. */
async function readSteps(
  { graphs }: GraphOptions,
  sessionIds: readonly string[],
  ids: readonly string[],
): Promise<Static<typeof stepSchema>[]> {
  if (ids.length < 2) return [];
  const relations = await graphs.relations(sessionIds, ids, {}, MAX_STEP_RELATIONS);
  const segmentIds = relations.flatMap(({ evidence }) => evidence.map((each) => each.segmentId));
  const spoken = await graphs.spoken(sessionIds, [...new Set(segmentIds)]);
  return ids.slice(1).map((target, index) => {
    const source = ids[index] ?? "";
    const between = relations.filter(
      ({ sourceId, targetId }) =>
        (sourceId === source && targetId === target) ||
        (sourceId === target && targetId === source),
    );
    const places = new Set(between.flatMap(({ evidence }) => evidence.map((e) => e.segmentId)));
    const segments = [...places].flatMap((id) => spoken.get(id) ?? []);
    return {
      source_id: source,
      target_id: target,
      relations: between.map(presentRelation),
      segments: segments.sort((a, b) => a.at - b.at).map(presentSpoken),
    };
  });
}

/**
 * Ids from `from` to `to`: the path with the fewest steps and, among those, the strongest ties.
 * Empty when nothing connects them. No two edges may have the same ends.
 */
export function shortestPath(edges: readonly GraphEdge[], from: string, to: string): string[] {
  const { ids, placeOf, first, next, ends, costs } = tiesOf(edges);
  const [start, end] = [placeOf.get(from), placeOf.get(to)];
  if (from === to) return [from];
  if (start === undefined || end === undefined) return [];
  const steps = new Int32Array(ids.length).fill(-1);
  const before = new Int32Array(ids.length).fill(-1);
  const cost = new Float64Array(ids.length);
  steps[start] = 0;
  for (let layer = [start], step = 1; layer.length > 0 && steps[end] === -1; step += 1) {
    const reached: number[] = [];
    for (const at of layer) {
      for (let tie = first[at] ?? -1; tie >= 0; tie = next[tie] ?? -1) {
        const other = ends[tie] ?? 0;
        const whole = (cost[at] ?? 0) + (costs[tie] ?? 0);
        if (steps[other] === -1) reached.push(other);
        else if (steps[other] !== step || (cost[other] ?? 0) <= whole) continue;
        steps[other] = step;
        cost[other] = whole;
        before[other] = at;
      }
    }
    layer = reached;
  }
  if (steps[end] === -1) return [];
  const path: string[] = [];
  for (let at = end; at >= 0; at = before[at] ?? -1) path.push(ids[at] ?? "");
  return path.reverse();
}

/** Entities by numbers, and their ties in lists: `first` of an entity, `next` of a tie, -1 at the end. */
interface Ties {
  ids: string[];
  placeOf: Map<string, number>;
  first: number[];
  next: Int32Array;
  /** To which entity each tie leads, and what it costs: weak ones cost more. */
  ends: Int32Array;
  costs: Float64Array;
}

/** Each edge is a tie in both directions. */
function tiesOf(edges: readonly GraphEdge[]): Ties {
  const ids: string[] = [];
  const placeOf = new Map<string, number>();
  const first: number[] = [];
  const count = 2 * edges.length;
  const [next, ends] = [new Int32Array(count), new Int32Array(count)];
  const costs = new Float64Array(count);
  const numberOf = (id: string): number => {
    const known = placeOf.get(id);
    if (known !== undefined) return known;
    placeOf.set(id, ids.length);
    first.push(-1);
    return ids.push(id) - 1;
  };
  for (const [n, { sourceId, targetId, weight }] of edges.entries()) {
    const [source, target] = [numberOf(sourceId), numberOf(targetId)];
    costs.fill(1 / (1 + weight), 2 * n, 2 * n + 2);
    ends[2 * n] = target;
    next[2 * n] = first[source] ?? -1;
    first[source] = 2 * n;
    ends[2 * n + 1] = source;
    next[2 * n + 1] = first[target] ?? -1;
    first[target] = 2 * n + 1;
  }
  return { ids, placeOf, first, next, ends, costs };
}
