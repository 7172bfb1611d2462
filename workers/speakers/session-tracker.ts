import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { type AttributedSubsegment, attributedTurns } from "./attributed-turns.ts";
import { withCannotLinks } from "./cannot-links.ts";
import { nameClusters } from "./name-clusters.ts";
import { RecentSound } from "./recent-sound.ts";
import type { SpeakerProposal, SpeakerTracker, SpeakerTurn } from "./speaker-tracker.ts";
import { spectralClusters } from "./spectral-clustering.ts";
import { StateReader, StateWriter } from "./state-codec.ts";
import { turnClusters } from "./turn-clustering.ts";
import { UtteranceVoices } from "./utterance-voices.ts";
import type { VoiceAnalysis } from "./voice-analysis.ts";
import { likestVoices } from "./voice-likeness.ts";
import { asStored, VoiceSubsegments } from "./voice-subsegments.ts";
import { clusterMeans } from "./voice-vectors.ts";

/** States of earlier versions are of methods that are gone: their voices cannot be compared. */
const STATE_VERSION = 4;
/** In interim results speech that is less like the mean of each known voice is of a new one, by cosine. */
const KNOWN_VOICE = 0.35;
/** Names from here on were given by no earlier method. */
const FIRST_AFTER_OTHERS = 10_000;
/** Fewer subsegments are grouped by turns: the eigenvalues of so small a graph tell little. */
const LEAST_FOR_SPECTRAL = 13;
/** From so many subsegments on they are grouped anew when there are so many more, as a share. */
const MANY_SUBSEGMENTS = 150;
const GROUPED_AGAIN = 0.03;
/** Or at once when one of them is less like every voice than this, by cosine. */
const FAMILIAR = 0.5;
/** Shorter subsegments are not grouped, but given to the voice that they are most like, samples (0.75 s). */
const LEAST_SIGNIFICANT = 12_000;

/** A subsegment that is not committed, and the turn that it is of. */
type FreshSubsegment = Pick<AttributedSubsegment, "embedding" | "turn">;

/** The clusters of committed and of fresh subsegments, and the clusters' mean vectors. */
interface Grouping {
  known: number[];
  fresh: number[];
  means: Map<number, Float32Array>;
  /** False where the fresh subsegments were given to the clusters that there are. */
  isAnew: boolean;
}

/** What the subsegments tell of an utterance. */
interface FoundVoices {
  readonly start: number;
  readonly end: number;
  readonly grouping: Grouping;
  readonly subsegments: readonly AttributedSubsegment[];
  readonly turns: SpeakerTurn[];
}

/**
 * Tells the voices of one session apart by vectors of their speech, all of which are grouped anew
 * with each utterance: a new voice has a name with its first, and what was taken for another's is
 * corrected.
 */
export class SessionTracker implements SpeakerTracker {
  readonly modelVersion: string;
  readonly #analysis: VoiceAnalysis;
  readonly #sound = new RecentSound();
  readonly #subsegments = new VoiceSubsegments();
  /** Clusters that have no speech any more, and those that have it now. */
  readonly #gone = new Map<number, number>();
  /** Subsegments that came since all were grouped. */
  #ungrouped = 0;
  #utterance: UtteranceVoices | undefined;
  /** Of an utterance that has not ended, or may not have. */
  #found: FoundVoices | undefined;
  #fresh: readonly AttributedSubsegment[] = [];
  /** The clusters of all committed subsegments as the newest utterance makes them. */
  #regrouped: readonly number[] = [];
  /** The clusters of segments before that. */
  #before: ReadonlyMap<number, number> = new Map();

  constructor(analysis: VoiceAnalysis, checkpoint?: Uint8Array) {
    this.#analysis = analysis;
    this.modelVersion = analysis.name;
    if (checkpoint) this.#restore(checkpoint);
  }

  push(start: number, pcm: Int16Array): void {
    this.#sound.push(start, pcm);
    if (this.#utterance === undefined) this.#sound.forget(this.#sound.end);
    else this.#utterance.advance(this.#sound.end);
  }

  begin(start: number): void {
    this.#utterance?.drop();
    this.#utterance = new UtteranceVoices(start, this.#analysis, this.#sound);
  }

  settle(start: number, end: number): boolean {
    const isSettled = this.#utteranceAt(start).settle(end);
    // Of few subsegments the voices are found while the words are waited for; of many it might be in vain too often.
    if (isSettled && this.#subsegments.all.length < MANY_SUBSEGMENTS) this.#find(start, end);
    return isSettled;
  }

  onNews(listener: (() => void) | undefined): void {
    this.#analysis.onNews(listener);
  }

  currentCluster(): number {
    const newest = this.#utterance?.newest();
    if (newest === undefined) return -1;
    const [best] = likestVoices(this.#subsegments.means(), newest);
    const isKnown = best !== undefined && best.likeness >= KNOWN_VOICE;
    return isKnown ? best.cluster : this.#subsegments.nextCluster;
  }

  turns(start: number, end: number): SpeakerTurn[] {
    const { grouping, subsegments, turns } = this.#find(start, end);
    if (grouping.isAnew) this.#ungrouped = 0;
    this.#regrouped = grouping.known;
    this.#fresh = subsegments;
    return turns;
  }

  #find(start: number, end: number): FoundVoices {
    if (this.#found?.start === start && this.#found.end === end) return this.#found;
    const { turns, overlaps } = this.#utteranceAt(start).result(end);
    const heard = turns.flatMap((turn) =>
      turn.subsegments.map((each) => ({ ...each, turn, embedding: asStored(each.embedding) })),
    );
    const telling = heard.filter((each) => each.end - each.start >= LEAST_SIGNIFICANT);
    const grouping = this.#group(telling);
    const { fresh, means } = grouping;
    const clusters = new Map(telling.map((each, n) => [each, fresh[n] ?? -1]));
    const subsegments = heard.map((each) => ({
      ...each,
      cluster: clusters.get(each) ?? likestVoices(means, each.embedding)[0]?.cluster ?? -1,
      isSignificant: clusters.has(each),
    }));
    const attributed = attributedTurns({ start, end, turns, overlaps, subsegments, means });
    this.#found = { start, end, grouping, subsegments, turns: attributed };
    return this.#found;
  }

  commit(segments: readonly SpeakerTurn[], end: number): void {
    this.#before = this.#subsegments.segments();
    this.#regroup(this.#regrouped);
    this.#regrouped = [];
    const named = new Set<number>();
    for (const { start, end: until, embedding, cluster, isSignificant } of this.#fresh) {
      const middle = (start + until) / 2;
      const own = segments.find((segment) => middle < segment.end) ?? segments.at(-1);
      if (own === undefined || cluster < 0 || !isSignificant) continue;
      const seconds = Math.fround((until - start) / SESSION_RATE);
      this.#subsegments.add({ cluster, embedding, seconds, starts: [own.start] });
      this.#ungrouped += 1;
      named.add(own.start);
    }
    for (const { start, cluster } of segments) {
      // It has no speech that tells: it follows the newest that has.
      if (!named.has(start)) this.#subsegments.attach(start, cluster);
    }
    this.#fresh = [];
    this.#found = undefined;
    this.#utterance?.drop();
    this.#utterance = undefined;
    this.#sound.forget(end);
  }

  revisions(): SpeakerProposal {
    const before = this.#before;
    this.#before = new Map();
    return { segments: this.#moved(before), merges: [] };
  }

  finalPass(): SpeakerProposal {
    const before = this.#subsegments.segments();
    this.#regroup(this.#group([], true).known);
    const merges = [...this.#gone].map(([from, into]) => ({ from, into: this.#living(into) }));
    const into = new Map(merges.map((merge) => [merge.from, merge.into]));
    const segments = this.#moved(before).filter(({ start, cluster }) => {
      return into.get(before.get(start) ?? -1) !== cluster;
    });
    return { segments, merges: merges.filter(({ from, into }) => from !== into) };
  }

  clusters(): number[] {
    return this.#subsegments.known();
  }

  close(): void {
    this.#utterance?.drop();
  }

  checkpoint(): Uint8Array {
    const to = new StateWriter();
    to.uint32(STATE_VERSION);
    to.bytes(Buffer.from(this.#analysis.name));
    to.uint32(this.#ungrouped);
    to.uint32(this.#gone.size);
    for (const [from, into] of this.#gone) {
      to.uint32(from);
      to.uint32(into);
    }
    this.#subsegments.write(to);
    return to.finish();
  }

  /** Voices of another method are left out: those that speak on get new names. */
  #restore(bytes: Uint8Array): void {
    const from = new StateReader(bytes);
    const version = from.uint32();
    if (version < 1 || version > STATE_VERSION) {
      throw new RangeError(`unknown speaker state version ${version}`);
    }
    const isOurs =
      version === STATE_VERSION && Buffer.from(from.bytes()).toString() === this.#analysis.name;
    if (!isOurs) return this.#subsegments.beginAt(FIRST_AFTER_OTHERS);
    this.#ungrouped = from.uint32();
    for (let count = from.uint32(); count > 0; count--) {
      const gone = from.uint32();
      this.#gone.set(gone, from.uint32());
    }
    this.#subsegments.read(from);
  }

  #utteranceAt(start: number): UtteranceVoices {
    if (this.#utterance?.start !== start) this.begin(start);
    return this.#utterance as UtteranceVoices;
  }

  /** Groups all subsegments together with fresh ones; the means are those of the new groups. */
  #group(freshSubsegments: readonly FreshSubsegment[], isFinal = false): Grouping {
    const subsegments = this.#subsegments.all;
    const fresh = freshSubsegments.map(({ embedding }) => embedding);
    if (this.#maySkip(fresh)) {
      const means = this.#subsegments.means();
      const nearest = fresh.map((vector) => likestVoices(means, vector)[0]?.cluster ?? -1);
      const known = subsegments.map(({ cluster }) => cluster);
      return { known, fresh: nearest, means, isAnew: false };
    }
    const vectors = [...subsegments.map(({ embedding }) => embedding), ...fresh];
    const similarities = this.#subsegments.similaritiesWith(fresh);
    const turns = [
      ...subsegments.map(({ starts }) => starts[0]),
      ...freshSubsegments.map(({ turn }) => turn),
    ];
    const items = vectors.map((_, n) => ({
      cluster: subsegments[n]?.cluster ?? -1,
      seconds: subsegments[n]?.seconds ?? 1,
    }));
    const before = items.map(({ cluster }) => cluster);
    const groupsOf = (): number[] => {
      if (vectors.length < LEAST_FOR_SPECTRAL) return turnClusters(similarities, turns);
      const groups = spectralClusters(similarities, turns);
      // In the end all speech is there, and tells more than what was thought before.
      return isFinal ? groups : withCannotLinks(similarities, groups, before);
    };
    const clusters = nameClusters(items, groupsOf(), this.#subsegments.nextCluster);
    const known = clusters.slice(0, subsegments.length);
    const means = clusterMeans(vectors, clusters);
    return { known, fresh: clusters.slice(subsegments.length), means, isAnew: true };
  }

  /** True where so few subsegments are new, of voices that are known, that grouping all anew tells nothing. */
  #maySkip(fresh: readonly Float32Array[]): boolean {
    const known = this.#subsegments.all.length;
    if (fresh.length === 0 || known < MANY_SUBSEGMENTS) return false;
    if (this.#ungrouped + fresh.length > GROUPED_AGAIN * known) return false;
    const means = this.#subsegments.means();
    return fresh.every((vector) => (likestVoices(means, vector)[0]?.likeness ?? 0) >= FAMILIAR);
  }

  /** Gives the committed subsegments to these clusters, and notes which clusters went into others. */
  #regroup(clusters: readonly number[]): void {
    const subsegments = this.#subsegments.all;
    const living = new Set(clusters);
    for (const [n, { cluster }] of subsegments.entries()) {
      const into = clusters[n];
      if (into !== undefined && !living.has(cluster)) this.#gone.set(cluster, into);
    }
    for (const cluster of living) this.#gone.delete(cluster);
    this.#subsegments.regroup(clusters);
  }

  /** The cluster that has the speech of one that may have gone as well. */
  #living(cluster: number): number {
    let living = cluster;
    for (let n = 0; n < this.#gone.size; n++) living = this.#gone.get(living) ?? living;
    return living;
  }

  /** The segments whose cluster is another one than before. */
  #moved(before: ReadonlyMap<number, number>): SpeakerProposal["segments"] {
    return [...this.#subsegments.segments()]
      .filter(([start, cluster]) => before.has(start) && before.get(start) !== cluster)
      .map(([start, cluster]) => ({ start, cluster }))
      .sort((a, b) => a.start - b.start);
  }
}
