import {
  agglomerate,
  leastSimilarity,
  type MergeRule,
  ownSimilarity,
  type Stretches,
  sumBetween,
  type Within,
} from "./agglomerate.ts";

/** Stretches in order of time; those of one utterance follow one another. */
export interface Sequence extends Stretches {
  /** The utterance that each is of; undefined for one that was joined from several. */
  utterances: readonly (number | undefined)[];
}

interface Grouping {
  rounds: number;
  leastFrames: number;
  offset?: number;
}

/** Rules estimated on human voices that read in turns; test/README.md has what was tried. */
const FIRST_RULE: MergeRule = { share: 0.8, offset: 0, lone: 0.05, most: 0.03 };
const RULE: MergeRule = { share: 1, offset: -0.085, lone: 0.05, most: 0 };
/** Groups with less speech, in frames, do not count as voices before the last round. */
const LEAST_BETWEEN = 150;
/** Similarity of a stretch to a voice that has nothing else. */
const ALONE = -0.02;
/** What a change of voice costs within an utterance, and from one to the next. */
const CHANGE = 0.2;
const CHANGE_BETWEEN = 0.05;
const FRAMES_PER_SECOND = 100;
/** Logistic weight of how much more a stretch sounds like its voice than like the next. */
const CONFIDENCE_WEIGHT = 8;

/**
 * The groups of one voice each. They are found in rounds: groups from the bottom up; then for the
 * whole sequence the likeliest voices, where changes within an utterance are rare (Viterbi); then
 * groups again, from what that left together, which is longer and purer than the stretches were.
 * `leastFrames` is the speech that a voice has at least: groups with less join the nearest. `offset`
 * is added to what two groups are asked to be one voice after the first round.
 */
export function groupVoices(
  sequence: Sequence,
  { rounds, leastFrames, offset = RULE.offset }: Grouping,
): number[][] {
  const alone = sequence.counts.flatMap((count, i) => (count > 0 ? [[i]] : []));
  const rule = { ...RULE, offset };
  let groups = agglomerate(sequence, alone, FIRST_RULE);
  for (let round = 1; round <= rounds; round++) {
    const runs = runsOf(sequence, likeliest(sequence, groups));
    const least = round === rounds ? leastFrames : LEAST_BETWEEN;
    groups = withoutLittle(sequence, agglomerate(sequence, runs, rule), least);
  }
  return groups;
}

/**
 * How likely the stretch `at` is of its group rather than of the next likely one, or of a new voice
 * where there is no other; 0..1, and 0 where nothing is known.
 */
export function confidenceOf(
  sequence: Sequence,
  groups: readonly (readonly number[])[],
  at: number,
): number {
  const similar = groups.map((group) => similarityTo(sequence, at, group));
  const own = groups.findIndex((group) => group.includes(at));
  const others = similar.filter((each, n) => n !== own && each !== undefined);
  const next = Math.max(...others.flatMap((each) => each ?? []));
  const isKnown = similar[own] !== undefined;
  if (!isKnown && others.length === 0) return 0;
  const asNew = (n: number) =>
    leastSimilarity(withinOf(sequence, groups[n] ?? []), undefined, RULE);
  const nearest = similar.indexOf(next);
  const best = similar[own] ?? asNew(nearest);
  const second = others.length > 0 ? next : asNew(own);
  return 1 / (1 + Math.exp(-CONFIDENCE_WEIGHT * (best - second)));
}

/**
 * The group that a stretch with these similarities to all others is the most like; -1 when it is
 * like none as one voice is. What groups have in common with themselves is not looked at.
 */
export function nearestGroup(
  counts: readonly number[],
  groups: readonly (readonly number[])[],
  similarities: Float64Array,
): number {
  const means = groups.map((group) => {
    const frames = group.reduce((sum, i) => sum + (counts[i] ?? 0), 0);
    const sum = group.reduce((all, i) => all + (counts[i] ?? 0) * (similarities[i] ?? 0), 0);
    return frames === 0 ? Number.NEGATIVE_INFINITY : sum / frames;
  });
  const most = Math.max(Number.NEGATIVE_INFINITY, ...means);
  return most < leastSimilarity(undefined, undefined, RULE) ? -1 : means.indexOf(most);
}

/** By how much more a stretch is like one group than like another; 0 where either is unknown. */
export function leaning(
  sequence: Stretches,
  at: number,
  [one, other]: readonly [readonly number[], readonly number[]],
): number {
  const [own, next] = [similarityTo(sequence, at, one), similarityTo(sequence, at, other)];
  return own === undefined || next === undefined ? 0 : own - next;
}

/** Mean similarity of a stretch to the others of a group; undefined when there are none. */
function similarityTo(
  { counts, similarities }: Stretches,
  at: number,
  group: readonly number[],
): number | undefined {
  let [sum, frames] = [0, 0];
  for (const i of group) {
    if (i === at) continue;
    sum += (counts[i] ?? 0) * (similarities[at]?.[i] ?? 0);
    frames += counts[i] ?? 0;
  }
  return frames === 0 ? undefined : sum / frames;
}

function withinOf(sequence: Stretches, group: readonly number[]): number | undefined {
  const frames = group.reduce((sum, i) => sum + (sequence.counts[i] ?? 0), 0);
  const squares = group.reduce((sum, i) => sum + (sequence.counts[i] ?? 0) ** 2, 0);
  const all: Within = {
    sum: sumBetween(sequence, group, group) / 2,
    weight: (frames * frames - squares) / 2,
  };
  for (const i of group) {
    all.sum += sequence.within[i]?.sum ?? 0;
    all.weight += sequence.within[i]?.weight ?? 0;
  }
  return ownSimilarity(all);
}

/** The likeliest group of each stretch, as the whole sequence goes; -1 without speech. */
function likeliest(sequence: Sequence, groups: readonly (readonly number[])[]): number[] {
  const order = sequence.counts.flatMap((count, i) => (count > 0 ? [i] : []));
  let scores = new Float64Array(groups.length);
  const back: number[][] = [];
  for (const [n, at] of order.entries()) {
    const before = order[n - 1];
    const cost = before === undefined ? 0 : changeCost(sequence, before, at);
    const best = scores.indexOf(Math.max(...scores));
    const from = groups.map((_, g) => ((scores[g] ?? 0) >= (scores[best] ?? 0) - cost ? g : best));
    back.push(from);
    const seconds = (sequence.counts[at] ?? 0) / FRAMES_PER_SECOND;
    scores = Float64Array.from(groups, (group, g) => {
      const came = from[g] === g ? (scores[g] ?? 0) : (scores[best] ?? 0) - cost;
      return came + seconds * (similarityTo(sequence, at, group) ?? ALONE);
    });
  }
  const chosen = new Array<number>(sequence.counts.length).fill(-1);
  let group = scores.indexOf(Math.max(...scores));
  for (let n = order.length - 1; n >= 0; n--) {
    chosen[order[n] ?? 0] = group;
    group = back[n]?.[group] ?? group;
  }
  return chosen;
}

function changeCost({ utterances }: Sequence, before: number, at: number): number {
  if (utterances[at] === undefined || utterances[before] === undefined) return 0;
  return utterances[at] === utterances[before] ? CHANGE : CHANGE_BETWEEN;
}

/** Neighbours of one utterance and one voice together. */
function runsOf({ utterances }: Sequence, chosen: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const [at, group] of chosen.entries()) {
    if (group < 0) continue;
    const last = runs.at(-1);
    const before = last?.at(-1) ?? -1;
    const isSame = utterances[at] !== undefined && utterances[at] === utterances[before];
    if (last && isSame && chosen[before] === group) last.push(at);
    else runs.push([at]);
  }
  return runs;
}

/** Groups with less speech than a voice needs join the nearest that has enough, or the largest. */
function withoutLittle(
  sequence: Stretches,
  groups: readonly number[][],
  leastFrames: number,
): number[][] {
  const speech = (group: readonly number[]) =>
    group.reduce((sum, i) => sum + (sequence.counts[i] ?? 0), 0);
  const enough = groups.filter((group) => speech(group) >= leastFrames);
  if (enough.length === 0) return groups.length === 0 ? [] : [groups.flat()];
  const joined = enough.map((group) => [...group]);
  for (const group of groups) {
    if (speech(group) >= leastFrames) continue;
    const near = enough.map((other) => {
      return sumBetween(sequence, group, other) / Math.max(1, speech(group) * speech(other));
    });
    joined[near.indexOf(Math.max(...near))]?.push(...group);
  }
  return joined;
}
