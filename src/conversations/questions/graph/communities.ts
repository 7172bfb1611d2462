import { UndirectedGraph } from "graphology";
import louvain from "graphology-communities-louvain";
import { derivedId } from "../../../base/ids.ts";
import type { EntityRecord, GraphEdge, RelationRecord } from "./records.ts";

// The package is CommonJS. Its types say that the function is at `default`, but it is the module
// itself.
const detect = louvain as unknown as (typeof louvain)["default"];

/** A group of entities that are tied more closely to each other than to others. */
export interface Community {
  id: string;
  /** The most mentioned names in it. */
  label: string;
  /** Ids of its entities, most mentioned first. */
  entityIds: string[];
}

const SEED = 0x5eed;
/**
 * Weight of a `talks_about` relation relative to others: with full weight every speaker would
 * become a hub.
 */
const TALK_SHARE = 0.25;
const NAMES_IN_LABEL = 3;

/**
 * Finds communities with the Louvain method. The result is the same for the same graph; entities
 * without ties are in no community.
 */
export function findCommunities(
  entities: readonly EntityRecord[],
  relations: readonly RelationRecord[],
): Community[] {
  const graph = toGraph(entities.map(({ id }) => id).sort(), relations.map(toEdge).sort(byEnds));
  if (graph.size === 0) return [];
  const places = detect(graph, { rng: seeded(SEED), getEdgeWeight: "weight" });
  const groups = new Map<number, EntityRecord[]>();
  for (const entity of entities) {
    const place = places[entity.id];
    if (place === undefined) continue;
    const group = groups.get(place);
    if (group === undefined) groups.set(place, [entity]);
    else group.push(entity);
  }
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group) => ({
      id: derivedId("community", ...group.map(({ id }) => id).sort()),
      label: labelOf(group),
      entityIds: group.map(({ id }) => id),
    }))
    .sort((a, b) => b.entityIds.length - a.entityIds.length || (a.id < b.id ? -1 : 1));
}

/** The most mentioned names; speakers only when there is nothing else, as topics say more. */
function labelOf(group: readonly EntityRecord[]): string {
  const subjects = group.filter(({ type }) => type !== "speaker");
  const named = subjects.length > 0 ? subjects : group;
  return named
    .slice(0, NAMES_IN_LABEL)
    .map(({ name }) => name)
    .join(", ");
}

function toEdge({ sourceId, targetId, kind, weight }: RelationRecord): GraphEdge {
  return { sourceId, targetId, weight: kind === "talks_about" ? weight * TALK_SHARE : weight };
}

function byEnds(a: GraphEdge, b: GraphEdge): number {
  const [one, other] = [a.sourceId + a.targetId, b.sourceId + b.targetId];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

type Ties = UndirectedGraph<Record<string, never>, { weight: number }>;

/** An undirected graph; the weights of edges between the same two entities add up. */
function toGraph(ids: Iterable<string>, edges: Iterable<GraphEdge>): Ties {
  const graph: Ties = new UndirectedGraph();
  for (const id of ids) graph.mergeNode(id);
  for (const { sourceId, targetId, weight } of edges) {
    if (sourceId === targetId) continue;
    graph.updateEdge(sourceId, targetId, (known) => ({
      weight: (known.weight ?? 0) + weight,
    }));
  }
  return graph;
}

/** A seeded random generator (Mulberry32), good enough to shuffle nodes the same way each time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
