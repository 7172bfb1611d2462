import type { TranscriptionCheckpoint } from "./command.ts";
import type { SegmentMark } from "./segments.ts";
import type { ClaimSource } from "./status.ts";
import type { Voices } from "./write.ts";

/**
 * Labels S1, S2, … in order of first recognised speech, never reused and never renumbered; `UU` is
 * unknown. The recognition proposes clusters; only here they become labels.
 */
export interface Speakers {
  /** Index n is label S(n+1). */
  labels: LabelState[];
  /** Cluster of the running attempt → index into `labels`. */
  clusters: Record<number, number>;
}

export interface LabelState {
  /** Index of the older label into which this one was merged. */
  mergedInto?: number;
  claim?: Claim;
  /** Row of `speaker_names` that holds the label's free name. */
  nameId?: string;
  /** What it had when a person merged it, for the way back. */
  before?: LabelBefore;
  /** Indexes of labels of which a person said that they are other voices. */
  apart?: number[];
}

/** What a label had before a merge; what is `given` the remaining label had not, and took over. */
interface LabelBefore {
  claim?: { given: boolean; is: Claim };
  name?: { given: boolean; id: string };
}

export interface Claim {
  source: ClaimSource;
  claimedUserId: string;
  byUserId: string;
}

export const UNKNOWN_SPEAKER = "UU";

export function noSpeakers(): Speakers {
  return { labels: [], clusters: {} };
}

export function labelName(index: number): string {
  return `S${index + 1}`;
}

/** Index of an S-label, or -1 for any other text. */
export function labelIndex(label: string): number {
  return /^S[1-9][0-9]{0,5}$/.test(label) ? Number(label.slice(1)) - 1 : -1;
}

/** Follows merges to the surviving label. */
export function survivingLabel(speakers: Speakers, index: number): number {
  let at = index;
  for (let hops = speakers.labels.length; hops > 0; hops -= 1) {
    const into = speakers.labels[at]?.mergedInto;
    if (into === undefined) return at;
    at = into;
  }
  return at;
}

/** The label of a cluster; for a new cluster, the next label. */
export function labelForCluster(speakers: Speakers, cluster: number): string {
  if (cluster < 0) return UNKNOWN_SPEAKER;
  const index = speakers.clusters[cluster];
  if (index === undefined) return labelName(speakers.labels.length);
  return labelName(survivingLabel(speakers, index));
}

/**
 * The label of a voice while it is spoken. A new one has the next label, which is given to nobody before the
 * final tells whose it is. On channels, where several new ones may speak at once, it has none.
 */
export function interimLabel(
  speakers: Speakers,
  { cluster, channel }: { cluster: number; channel?: number | undefined },
): string {
  const isNew = speakers.clusters[cluster] === undefined;
  return isNew && channel !== undefined ? UNKNOWN_SPEAKER : labelForCluster(speakers, cluster);
}

/**
 * The labels of the clusters that a checkpoint knows; of all when the worker did not send which.
 */
export function knownTo(
  { clusters }: Pick<TranscriptionCheckpoint, "clusters">,
  all: Voices,
): Voices {
  if (clusters === undefined) return { ...all };
  const known = clusters.ids.flatMap((id) => (all[id] === undefined ? [] : [[id, all[id]]]));
  return Object.fromEntries(known);
}

/** Records that `cluster` was given `label`; makes the label when it is new. */
export function applyLabel(speakers: Speakers, cluster: number, label: string): void {
  const index = labelIndex(label);
  if (index < 0) return;
  while (speakers.labels.length <= index) speakers.labels.push({});
  if (cluster >= 0 && speakers.clusters[cluster] === undefined) speakers.clusters[cluster] = index;
}

/**
 * Merges two labels; the older one survives, and takes over the claim and the free name of the
 * other when it has none.
 *
 * @param keepsWay true when the merge can be taken back
 */
export function applyMerge(
  speakers: Speakers,
  { from, into }: { from: string; into: string },
  keepsWay: boolean,
): void {
  const source = speakers.labels[labelIndex(from)];
  const target = speakers.labels[labelIndex(into)];
  if (source === undefined || target === undefined || source === target) return;
  source.mergedInto = labelIndex(into);
  if (keepsWay) source.before = beforeMerge(source, target);
  if (target.claim === undefined && source.claim !== undefined) target.claim = source.claim;
  delete source.claim;
  if (target.nameId === undefined && source.nameId !== undefined) target.nameId = source.nameId;
  delete source.nameId;
}

function beforeMerge(source: LabelState, target: LabelState): LabelBefore {
  const { claim, nameId: id } = source;
  return {
    ...(claim && { claim: { given: target.claim === undefined, is: claim } }),
    ...(id !== undefined && { name: { given: target.nameId === undefined, id } }),
  };
}

/** The label is a voice of its own again; only a person merges it with the other one from now on. */
export function applyUnmerge(speakers: Speakers, label: string, into: string): void {
  const state = speakers.labels[labelIndex(label)];
  if (state === undefined) return;
  delete state.mergedInto;
  delete state.before;
  state.apart = [...new Set([...(state.apart ?? []), labelIndex(into)])];
}

/** True when a person said that the two labels are not the same voice. */
export function areApart(speakers: Speakers, one: number, other: number): boolean {
  const says = (a: number, b: number) => speakers.labels[a]?.apart?.includes(b) === true;
  return says(one, other) || says(other, one);
}

/**
 * The label that the segment would have without any merge: the one that it had before a person
 * merged labels, else that of its cluster, unless a person chose its speaker.
 */
export function ownLabel(speakers: Speakers, mark: OwnedMark): string {
  const { own, chosen, cluster, label } = mark;
  if (own !== undefined) return own;
  const index = chosen === true ? undefined : speakers.clusters[cluster];
  if (index === undefined || labelName(survivingLabel(speakers, index)) !== label) return label;
  return labelName(index);
}

type OwnedMark = Pick<SegmentMark, "own" | "chosen" | "cluster" | "label">;

/** One more than the highest cluster that has a label. */
export function knownClusters(speakers: Speakers): number {
  const ids = Object.keys(speakers.clusters).map(Number);
  return ids.length === 0 ? 0 : Math.max(...ids) + 1;
}
