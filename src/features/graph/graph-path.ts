import { UndirectedGraph } from "graphology";
import { bidirectional } from "graphology-shortest-path/dijkstra.js";
import type { GraphEdge } from "./graph-reader.ts";

/**
 * Ids from `from` to `to`: fewest steps first, and of those the strongest ties.
 * Empty when nothing connects them. No two edges may have the same ends.
 */
export function shortestPath(edges: readonly GraphEdge[], from: string, to: string): string[] {
  if (from === to) return [from];
  const graph = new UndirectedGraph<Record<string, never>, { weight: number }>();
  graph.addNode(from);
  graph.addNode(to);
  for (const [index, { sourceId, targetId, weight }] of edges.entries()) {
    if (!graph.hasNode(sourceId)) graph.addNode(sourceId);
    if (!graph.hasNode(targetId)) graph.addNode(targetId);
    graph.addUndirectedEdgeWithKey(index, sourceId, targetId, { weight });
  }
  // No tie weighs so little that a step more would be shorter.
  const cost = (_edge: string, { weight }: { weight: number }): number => 1_000 + 1 / (1 + weight);
  return bidirectional(graph, from, to, cost) ?? [];
}
