import { likenessWithin } from "./join-clusters.ts";
import type { Similarities } from "./voice-vectors.ts";

/** Voices may not be joined that are less alike than this share of how like the speech of each is to itself. */
const ONE_VOICE = 0.6;
/** Fewer subsegments tell no voice: one alone may be of two people. */
const LEAST_VOICE = 2;

/** Numbers of the vectors of one voice. */
type Voice = readonly number[];

/**
 * Parts groups of voices that were told apart before and are not alike, by cannot-link constraints (Wagstaff and
 * others 2001): where eigenvalues tell the number of voices, a little more speech can make one voice of two, and
 * two of it again with the next. What else is in such a group goes to the voice that it is most like.
 *
 * @param similarities of the vectors, by cosine
 * @param groups for each vector the number of its new group, from 0
 * @param before for each vector the cluster that it had, -1 for none
 * @returns for each vector the number of its group
 */
export function withCannotLinks(
  similarities: Similarities,
  groups: readonly number[],
  before: readonly number[],
): number[] {
  const result = [...groups];
  let fresh = Math.max(-1, ...groups) + 1;
  const all = [...groups.keys()];
  const homes = new Map(
    [...voicesOf(all, before)].map(([cluster, voice]) => {
      return [cluster, homeOf(voice, groups)];
    }),
  );
  for (const [group, own] of voicesOf(all, groups)) {
    const voices = [...voicesOf(own, before)]
      .filter(([cluster, voice]) => homes.get(cluster) === group && voice.length >= LEAST_VOICE)
      .map(([, voice]) => voice);
    const [kept, ...others] = joinedAlike(similarities, voices);
    if (kept === undefined || others.length === 0) continue;
    const sets = [{ group, voice: kept }, ...others.map((voice) => ({ group: fresh++, voice }))];
    const taken = new Map(sets.flatMap(({ group, voice }) => voice.map((n) => [n, group])));
    for (const n of own) {
      const likeness = sets.map(({ voice }) => meanOf(similarities, [n], voice));
      const likest = sets[likeness.indexOf(Math.max(...likeness))];
      result[n] = taken.get(n) ?? likest?.group ?? group;
    }
  }
  return result;
}

/** The subsegments of each cluster, without those of cluster -1. */
function voicesOf(vectors: Voice, clusters: readonly number[]): Map<number, number[]> {
  const voices = new Map<number, number[]>();
  for (const n of vectors) {
    const cluster = clusters[n] ?? -1;
    const own = voices.get(cluster);
    if (own !== undefined) own.push(n);
    else if (cluster >= 0) voices.set(cluster, [n]);
  }
  return voices;
}

/** The group that has most of the subsegments. */
function homeOf(voice: Voice, groups: readonly number[]): number | undefined {
  const shares = [...voicesOf(voice, groups)].sort(([, a], [, b]) => b.length - a.length);
  return shares[0]?.[0];
}

/** Joins what is of one voice, the likest first. */
function joinedAlike(similarities: Similarities, voices: readonly Voice[]): Voice[] {
  let sets = [...voices];
  for (;;) {
    const within = sets.map((set) => Math.sqrt(withinOf(similarities, set)));
    let [likest, pair]: [number, readonly [number, number] | undefined] = [ONE_VOICE, undefined];
    for (let one = 1; one < sets.length; one++) {
      for (let other = 0; other < one; other++) {
        const between = meanOf(similarities, sets[one] ?? [], sets[other] ?? []);
        const likeness = between / ((within[one] ?? 1) * (within[other] ?? 1));
        if (likeness > likest) [likest, pair] = [likeness, [other, one]];
      }
    }
    if (pair === undefined) return sets;
    const [kept, gone] = pair;
    const joined = [...(sets[kept] ?? []), ...(sets[gone] ?? [])];
    sets = sets.map((set, n) => (n === kept ? joined : set)).filter((_, n) => n !== gone);
  }
}

/** The mean cosine of pairs, one of each. */
function meanOf(similarities: Similarities, one: Voice, other: Voice): number {
  let sum = 0;
  for (const a of one) {
    for (const b of other) sum += similarities[Math.max(a, b)]?.[Math.min(a, b)] ?? 0;
  }
  return sum / (one.length * other.length);
}

/** How like the subsegments are among themselves. */
function withinOf(similarities: Similarities, voice: Voice): number {
  let [sum, pairs] = [0, 0];
  for (const [at, one] of voice.entries()) {
    for (const other of voice.slice(0, at)) {
      sum += similarities[Math.max(one, other)]?.[Math.min(one, other)] ?? 0;
    }
    pairs += at;
  }
  return likenessWithin(sum, pairs);
}
