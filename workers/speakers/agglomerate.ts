import { evidence, separationOf } from "./voice-evidence.ts";
import type { VoicePiece } from "./voice-registry.ts";
import type { VoiceStatistics } from "./voice-statistics.ts";

/** Pieces of speech that are attributed to one voice. */
export interface VoiceGroup {
  members: VoicePiece[];
  voice: VoiceStatistics;
}

interface Node extends VoiceGroup {
  evidence: number;
  /** Distance to each node, by index; Infinity once either of the two was merged. */
  distances: Float64Array;
  nearest: number;
}

/**
 * Merges groups from the bottom up, always the pair that is most likely one voice, until every pair
 * is more likely two voices (Heller and Ghahramani 2005, "Bayesian hierarchical clustering", greedy
 * form). Quadratic in the number of groups.
 */
export function agglomerate(groups: readonly VoiceGroup[], centre: VoiceStatistics): VoiceGroup[] {
  const nodes = groups.map(
    ({ members, voice }): Node => ({
      members,
      voice,
      evidence: evidence(voice, centre),
      distances: new Float64Array(groups.length).fill(Infinity),
      nearest: -1,
    }),
  );
  const alive = new Set(nodes.keys());
  for (const i of alive) measure(nodes, alive, i, centre, i);
  for (const i of alive) findNearest(nodes, alive, i);
  for (;;) {
    const i = closest(nodes, alive);
    const node = nodes[i];
    if (!node || (node.distances[node.nearest] ?? 0) >= 0) break;
    join(nodes, alive, [Math.min(i, node.nearest), Math.max(i, node.nearest)], centre);
  }
  return [...alive].flatMap((i) => nodes[i] ?? []);
}

function join(
  nodes: readonly Node[],
  alive: Set<number>,
  [kept, gone]: [number, number],
  centre: VoiceStatistics,
): void {
  const [a, b] = [nodes[kept], nodes[gone]];
  if (!a || !b) return;
  a.members = [...a.members, ...b.members];
  a.voice = a.voice.plus(b.voice);
  a.evidence = evidence(a.voice, centre);
  alive.delete(gone);
  measure(nodes, alive, kept, centre);
  for (const i of alive) {
    const node = nodes[i];
    if (!node) continue;
    const stale = i === kept || node.nearest === kept || node.nearest === gone;
    if (stale) findNearest(nodes, alive, i);
    else if ((node.distances[kept] ?? 0) < (node.distances[node.nearest] ?? 0)) node.nearest = kept;
  }
}

/**
 * Computes distances between node `i` and all other live nodes (only before node `end`, when
 * given).
 */
function measure(
  nodes: readonly Node[],
  alive: Set<number>,
  i: number,
  centre: VoiceStatistics,
  end = nodes.length,
): void {
  const node = nodes[i];
  if (!node) return;
  for (const j of alive) {
    const other = nodes[j];
    if (!other || j === i || j >= end) continue;
    const distance = separationOf(node, other, centre);
    node.distances[j] = distance;
    other.distances[i] = distance;
  }
}

function findNearest(nodes: readonly Node[], alive: Set<number>, i: number): void {
  const node = nodes[i];
  if (!node) return;
  node.nearest = -1;
  for (const j of alive) {
    if (j === i) continue;
    if (node.nearest < 0 || (node.distances[j] ?? 0) < (node.distances[node.nearest] ?? 0)) {
      node.nearest = j;
    }
  }
}

/** The node with the smallest distance to another one; -1 when there is only one. */
function closest(nodes: readonly Node[], alive: Set<number>): number {
  let best = -1;
  let least = Infinity;
  for (const i of alive) {
    const node = nodes[i];
    const distance = node?.distances[node.nearest] ?? Infinity;
    if (distance >= least) continue;
    least = distance;
    best = i;
  }
  return best;
}
