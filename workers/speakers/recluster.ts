import { agglomerate, type VoiceGroup } from "./agglomerate.ts";
import { type VoicePiece, type VoiceRegistry, WINDOW } from "./voice-registry.ts";
import { VoiceStatistics } from "./voice-statistics.ts";

/** Segments with less speech than this (0.8 s) create no new voice; they only join one. */
export const NEW_VOICE_FRAMES = 20;
/**
 * In the final pass a new voice needs more speech (1.6 s), since there is enough to choose from.
 */
const FINAL_VOICE_FRAMES = 40;
const PASSES = 4;
/** A segment that was shown moves only to a voice that is likelier by this log Bayes factor. */
const CLEARLY_NEARER = 3;

/** Regroups the newest segments, together with the voices of the older ones. */
export function reclusterNewest(registry: VoiceRegistry): void {
  const from = Math.max(0, registry.pieces.length - WINDOW);
  const older = new Map<number, VoicePiece[]>();
  for (const segment of registry.pieces.slice(0, from)) {
    const known = older.get(segment.cluster) ?? [];
    if (segment.cluster >= 0) older.set(segment.cluster, [...known, segment]);
  }
  const recent = registry.pieces.slice(from);
  const groups = [...older.values(), ...recent.map((segment) => [segment])].map(asGroup);
  regroup(registry, groups, NEW_VOICE_FRAMES);
  settle(registry, recent, CLEARLY_NEARER);
}

/** Regroups all segments of the session. */
export function reclusterAll(registry: VoiceRegistry): void {
  regroup(
    registry,
    registry.pieces.map((piece) => asGroup([piece])),
    FINAL_VOICE_FRAMES,
  );
  const founders = registry.pieces.filter((segment) => segment.voice.count >= FINAL_VOICE_FRAMES);
  const founded = new Set(founders.map((segment) => segment.cluster));
  for (let pass = 0; pass < PASSES; pass++) {
    if (settle(registry, registry.pieces, 0, founded) === 0) break;
  }
}

function regroup(
  registry: VoiceRegistry,
  groups: readonly VoiceGroup[],
  leastFrames: number,
): void {
  const founding = groups.filter((group) => group.voice.count >= leastFrames);
  if (founding.length > 1) nameGroups(registry, agglomerate(founding, registry.all));
}

/**
 * Moves each segment to the nearest voice if that is nearer by more than `margin`. When `kept` is
 * not empty, segments of other clusters move to the nearest of `kept`. Returns how many moved.
 */
function settle(
  registry: VoiceRegistry,
  segments: readonly VoicePiece[],
  margin: number,
  kept: ReadonlySet<number> = new Set(),
): number {
  let moved = 0;
  for (const segment of segments) {
    const { voice, cluster } = segment;
    if (voice.count === 0) continue;
    const ranked = registry
      .compare(voice, cluster)
      .filter((other) => kept.size === 0 || kept.has(other.cluster));
    const [nearest] = ranked;
    const own = ranked.find((other) => other.cluster === cluster)?.distance;
    const homeless = voice.count < NEW_VOICE_FRAMES || (kept.size > 0 && !kept.has(cluster));
    if (!nearest || nearest.distance + margin >= (own ?? (homeless ? Infinity : 0))) continue;
    registry.move([segment], nearest.cluster);
    moved++;
  }
  return moved;
}

function asGroup(members: VoicePiece[]): VoiceGroup {
  const voice = members.reduce((sum, member) => sum.plus(member.voice), VoiceStatistics.none);
  return { members, voice };
}

/**
 * Assigns cluster ids to groups. A cluster's id goes to the group with most of its speech; a group
 * with several keeps the oldest. A group without one takes an unused id of its members, or a new
 * one.
 */
function nameGroups(registry: VoiceRegistry, groups: readonly VoiceGroup[]): void {
  const home = new Map<number, { group: VoiceGroup; count: number }>();
  for (const group of groups) {
    for (const [cluster, count] of speechByCluster(group)) {
      if (count > (home.get(cluster)?.count ?? 0)) home.set(cluster, { group, count });
    }
  }
  const taken = new Set<number>();
  const lives = groups.map((group) => {
    const living = [...home].filter(([, { group: where }]) => where === group);
    const oldest = Math.min(...living.map(([cluster]) => cluster));
    if (Number.isFinite(oldest)) taken.add(oldest);
    return { group, oldest };
  });
  const named = lives.map(({ group, oldest }) => {
    if (Number.isFinite(oldest)) return { group, cluster: oldest };
    const spare = [...speechByCluster(group).keys()].filter((cluster) => !taken.has(cluster));
    const cluster = spare.length > 0 ? Math.min(...spare) : registry.nextCluster++;
    taken.add(cluster);
    return { group, cluster };
  });
  for (const { group, cluster } of named) registry.move(group.members, cluster);
}

function speechByCluster(group: VoiceGroup): Map<number, number> {
  const speech = new Map<number, number>();
  for (const { cluster, voice } of group.members) {
    if (cluster >= 0) speech.set(cluster, (speech.get(cluster) ?? 0) + voice.count);
  }
  return speech;
}
