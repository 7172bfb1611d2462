import { confidenceOf, groupVoices, leaning, nearestGroup, type Sequence } from "./voice-groups.ts";
import type { VoicePiece, VoiceRegistry } from "./voice-registry.ts";
import { type PlacedSketch, similarityOf } from "./voice-sketch.ts";

/** Rounds of grouping, and the speech that a voice has at least, in frames (1.2 and 2.5 s). */
const LIVE = { rounds: 2, leastFrames: 120 };
/**
 * More in the final pass, since there is enough to choose from; and all that was said tells more
 * surely that two groups are two voices.
 */
const FINAL = { rounds: 4, leastFrames: 250, offset: -0.075 };

/** A segment that was shown moves only to a voice that it is more like by this. */
const CLEARLY_NEARER = 0.1;

/** A stretch that is not committed yet. */
type FreshPiece = Pick<VoicePiece, "sketch" | "within" | "utterance"> & PlacedSketch;

/** The voices of fresh stretches, and what they make of those that are committed. */
interface Attribution {
  /** For each fresh stretch its cluster, new ones from `nextCluster` on; -1 without speech. */
  clusters: number[];
  /** How likely it is that voice rather than the next likely one, 0..1; 0 while unknown. */
  confidences: number[];
  /** The clusters of the registry's pieces by all that is heard now. */
  revised: Map<VoicePiece, number>;
}

/** Groups the session's pieces together with fresh ones. */
export function attribute(registry: VoiceRegistry, fresh: readonly FreshPiece[]): Attribution {
  const pieces = [...registry.pieces, ...fresh];
  const sequence = sequenceOf(pieces, [...registry.placed(), ...fresh]);
  const groups = groupVoices(sequence, LIVE);
  const clusters = nameGroups(
    registry,
    pieces.map(({ sketch }, i) => {
      return { cluster: registry.pieces[i]?.cluster ?? -1, count: sketch.count };
    }),
    groups,
  );
  const known = registry.pieces.length;
  return {
    clusters: clusters.slice(known),
    confidences: fresh.map((_, n) => {
      return (clusters[known + n] ?? -1) < 0 ? 0 : confidenceOf(sequence, groups, known + n);
    }),
    revised: new Map(
      registry.pieces.map((piece, i) => [piece, settled(sequence, groups, clusters, piece, i)]),
    ),
  };
}

/** The cluster of a piece that was shown: it moves only where that is clear, or its own is gone. */
function settled(
  sequence: Sequence,
  groups: readonly (readonly number[])[],
  clusters: readonly number[],
  { cluster }: VoicePiece,
  at: number,
): number {
  const now = clusters[at] ?? cluster;
  if (now === cluster || cluster < 0) return now;
  const groupOf = (name: number) => groups.find((group) => clusters[group[0] ?? -1] === name);
  const [own, next] = [groupOf(cluster), groupOf(now)];
  if (own === undefined || next === undefined) return now;
  return leaning(sequence, at, [next, own]) > CLEARLY_NEARER ? now : cluster;
}

/** Regroups all pieces of the session. */
export function reclusterAll(registry: VoiceRegistry): void {
  const { pieces } = registry;
  const groups = groupVoices(sequenceOf(pieces, registry.placed()), FINAL);
  const counted = pieces.map(({ cluster, sketch }) => ({ cluster, count: sketch.count }));
  const clusters = nameGroups(registry, counted, groups);
  registry.rename(new Map(pieces.map((piece, i) => [piece, clusters[i] ?? piece.cluster])));
}

/** The known voice that a stretch sounds like, -1 when it sounds like none. */
export function nearestVoice(registry: VoiceRegistry, fresh: PlacedSketch): number {
  const counts = registry.pieces.map(({ sketch }) => sketch.count);
  const row = Float64Array.from(registry.placed(), (each) => similarityOf(each, fresh));
  const known = registry.known();
  const groups = known.map((cluster) => {
    return registry.pieces.flatMap((piece, i) => (piece.cluster === cluster ? [i] : []));
  });
  return known[nearestGroup(counts, groups, row)] ?? -1;
}

function sequenceOf(
  pieces: readonly Pick<VoicePiece, "sketch" | "within" | "utterance">[],
  placed: readonly PlacedSketch[],
): Sequence {
  const similarities = placed.map(() => new Float64Array(placed.length));
  for (const [i, one] of placed.entries()) {
    for (const [j, other] of placed.slice(0, i).entries()) {
      const similarity = similarityOf(one, other);
      const [row, column] = [similarities[i], similarities[j]];
      if (row) row[j] = similarity;
      if (column) column[i] = similarity;
    }
  }
  return {
    similarities,
    counts: pieces.map(({ sketch }) => sketch.count),
    within: pieces.map(({ within }) => within),
    utterances: pieces.map(({ utterance }) => utterance),
  };
}

/**
 * Cluster ids of the pieces by their groups. A cluster's id goes to the group with most of its
 * speech; a group with several keeps the oldest. A group without one takes an unused id of its
 * members, or a new one. Pieces of no group keep theirs.
 */
function nameGroups(
  registry: VoiceRegistry,
  pieces: readonly { cluster: number; count: number }[],
  groups: readonly (readonly number[])[],
): number[] {
  const names = pieces.map(({ cluster }) => cluster);
  const speech = groups.map((group) => speechByCluster(group.flatMap((i) => pieces[i] ?? [])));
  const home = new Map<number, { group: number; count: number }>();
  for (const [group, clusters] of speech.entries()) {
    for (const [cluster, count] of clusters) {
      if (count > (home.get(cluster)?.count ?? 0)) home.set(cluster, { group, count });
    }
  }
  const taken = new Set<number>();
  const own = groups.map((_, group) => {
    const living = [...home].filter(([, where]) => where.group === group);
    const oldest = Math.min(...living.map(([cluster]) => cluster));
    if (Number.isFinite(oldest)) taken.add(oldest);
    return oldest;
  });
  let next = registry.nextCluster;
  const byTime = [...groups.keys()].sort((a, b) => {
    return Math.min(...(groups[a] ?? [])) - Math.min(...(groups[b] ?? []));
  });
  for (const at of byTime) {
    let name = own[at] ?? Number.POSITIVE_INFINITY;
    if (!Number.isFinite(name)) {
      const spare = [...(speech[at]?.keys() ?? [])].filter((cluster) => !taken.has(cluster));
      name = spare.length > 0 ? Math.min(...spare) : next++;
      taken.add(name);
    }
    for (const i of groups[at] ?? []) names[i] = name;
  }
  return names;
}

function speechByCluster(
  pieces: readonly { cluster: number; count: number }[],
): Map<number, number> {
  const speech = new Map<number, number>();
  for (const { cluster, count } of pieces) {
    if (cluster >= 0) speech.set(cluster, (speech.get(cluster) ?? 0) + count);
  }
  return speech;
}
