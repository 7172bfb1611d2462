import { bidirectional } from "graphology-shortest-path/dijkstra.js";
import { toGraph } from "./graph-communities.ts";
import type { GraphEdge } from "./graph-reader.ts";

/**
 * Ids from `from` to `to`: fewest steps first, and of those the strongest ties.
 * Empty when nothing connects them.
 */
export function shortestPath(edges: readonly GraphEdge[], from: string, to: string): string[] {
  if (from === to) return [from];
  const graph = toGraph([from, to], edges);
  // No tie weighs so little that a step more would be shorter.
  const cost = (_edge: string, { weight }: { weight: number }): number => 1_000 + 1 / (1 + weight);
  return bidirectional(graph, from, to, cost) ?? [];
}
