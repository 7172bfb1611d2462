import type { StateReader, StateWriter } from "./state-codec.ts";
import { clusterMeans, cosine, type Similarities, toUnitLength } from "./voice-vectors.ts";

/** Speech of one voice: a subsegment of a segment, or several old ones. */
interface VoiceSubsegment {
  cluster: number;
  /** Of unit length. */
  embedding: Float32Array;
  /** How much speech it stands for, seconds. */
  seconds: number;
  /** Starts of the segments that it is of, in order. */
  starts: number[];
}

/** Most subsegments that are kept; more are joined. */
export const MOST_SUBSEGMENTS = 400;
/** The newest subsegments, which are kept as they are. */
const NEWEST = 150;
/** Most segments that can still be named, the newest: those of about eight hours. */
const MOST_NAMED = 8_192;
/** Of a stored number. */
const MOST_STEPS = 127;

/**
 * The committed speech of a session in bounded space: where there is too much, neighbouring subsegments of
 * one voice are joined, those with the least speech first.
 */
export class VoiceSubsegments {
  #subsegments: VoiceSubsegment[] = [];
  #nextCluster = 0;
  /** The subsegments' similarities, as far as they were needed. */
  #similarities: Float32Array[] = [];

  get all(): readonly VoiceSubsegment[] {
    return this.#subsegments;
  }

  /** Id of the next new voice. */
  get nextCluster(): number {
    return this.#nextCluster;
  }

  /** The clusters, oldest first. */
  known(): number[] {
    return [...new Set(this.#subsegments.map(({ cluster }) => cluster))].sort((a, b) => a - b);
  }

  /** The mean vector of each cluster. */
  means(): Map<number, Float32Array> {
    return clusterMeans(
      this.#subsegments.map(({ embedding }) => embedding),
      this.#subsegments.map(({ cluster }) => cluster),
    );
  }

  /** How like the subsegments and `fresh` vectors behind them are. */
  similaritiesWith(fresh: readonly Float32Array[]): Similarities {
    const vectors = this.#subsegments.map(({ embedding }) => embedding);
    for (let n = this.#similarities.length; n < vectors.length; n++) {
      this.#similarities.push(rowOf(vectors, n));
    }
    const all = [...vectors, ...fresh];
    return all.map((_, n) => this.#similarities[n] ?? rowOf(all, n));
  }

  /** New voices have names from here on. */
  beginAt(cluster: number): void {
    this.#nextCluster = Math.max(this.#nextCluster, cluster);
  }

  /** Lets a segment without a subsegment of its own follow the newest subsegment of its cluster. */
  attach(start: number, cluster: number): void {
    const newest = this.#subsegments.findLast((each) => each.cluster === cluster);
    if (newest !== undefined) newest.starts = [...newest.starts, start].sort((a, b) => a - b);
  }

  add(subsegment: VoiceSubsegment): void {
    this.#subsegments.push(subsegment);
    this.#nextCluster = Math.max(this.#nextCluster, subsegment.cluster + 1);
    while (this.#subsegments.length > MOST_SUBSEGMENTS) this.#joinTwo();
    this.#forgetNames();
  }

  /** Gives the subsegments, in order, to other clusters. */
  regroup(clusters: readonly number[]): void {
    for (const [n, subsegment] of this.#subsegments.entries()) {
      subsegment.cluster = clusters[n] ?? subsegment.cluster;
      this.#nextCluster = Math.max(this.#nextCluster, subsegment.cluster + 1);
    }
  }

  /** For each segment that can be named, the cluster that has most of its speech. */
  segments(): Map<number, number> {
    const shares = new Map<number, Map<number, number>>();
    for (const { starts, cluster, seconds } of this.#subsegments) {
      for (const start of starts) {
        const own = shares.get(start) ?? new Map<number, number>();
        own.set(cluster, (own.get(cluster) ?? 0) + seconds / starts.length);
        shares.set(start, own);
      }
    }
    return new Map([...shares].map(([start, own]) => [start, largest(own)]));
  }

  write(to: StateWriter): void {
    to.uint32(this.#nextCluster);
    to.uint32(this.#subsegments.length);
    for (const { cluster, seconds, embedding, starts } of this.#subsegments) {
      to.uint32(cluster);
      to.float32(seconds);
      to.bytes(toBytes(embedding));
      to.uint32(starts.length);
      for (const start of starts) to.float64(start);
    }
  }

  read(from: StateReader): void {
    const next = from.uint32();
    for (let count = from.uint32(); count > 0; count--) {
      const cluster = from.uint32();
      const seconds = from.float32();
      const embedding = fromBytes(from.bytes());
      const starts = Array.from({ length: from.uint32() }, () => from.float64());
      this.#subsegments.push({ cluster, seconds, embedding, starts });
    }
    this.#nextCluster = next;
  }

  /** Joins the two neighbours of one cluster, older than the newest, that have the least speech. */
  #joinTwo(): void {
    const before = new Map<number, number>();
    let [pair, least]: [readonly [number, number], number] = [[0, 1], Number.POSITIVE_INFINITY];
    for (const [n, { cluster, seconds }] of this.#subsegments.slice(0, -NEWEST).entries()) {
      const other = before.get(cluster);
      const together =
        seconds + (this.#subsegments[other ?? -1]?.seconds ?? Number.POSITIVE_INFINITY);
      if (other !== undefined && together < least) [pair, least] = [[other, n], together];
      before.set(cluster, n);
    }
    const [one, other] = pair.map((n) => this.#subsegments[n]);
    if (one === undefined || other === undefined) return;
    this.#subsegments[pair[0]] = joined(one, other);
    this.#subsegments.splice(pair[1], 1);
    this.#follow(pair[0], pair[1]);
  }

  /** The similarities without the subsegment that is gone, and with the new vector of the other. */
  #follow(changed: number, gone: number): void {
    const { embedding } = this.#subsegments[changed] as VoiceSubsegment;
    this.#similarities.splice(gone, 1);
    for (let n = changed; n < this.#similarities.length; n++) {
      let row = this.#similarities[n] as Float32Array;
      if (n >= gone) {
        row.copyWithin(gone, gone + 1);
        row = row.subarray(0, n);
        this.#similarities[n] = row;
      }
      if (n === changed) {
        for (let m = 0; m < n; m++) row[m] = cosine(embedding, this.#vector(m));
      } else row[changed] = cosine(embedding, this.#vector(n));
    }
  }

  #vector(n: number): Float32Array {
    return (this.#subsegments[n] as VoiceSubsegment).embedding;
  }

  #forgetNames(): void {
    let left = this.#subsegments.reduce((sum, { starts }) => sum + starts.length, 0) - MOST_NAMED;
    for (const subsegment of this.#subsegments) {
      if (left <= 0) return;
      const gone = Math.min(left, subsegment.starts.length);
      subsegment.starts = subsegment.starts.slice(gone);
      left -= gone;
    }
  }
}

/** The vector as it is stored and read again, so that a reading goes on with the same numbers. */
export function asStored(embedding: Float32Array): Float32Array {
  return fromBytes(toBytes(embedding));
}

function joined(one: VoiceSubsegment, other: VoiceSubsegment): VoiceSubsegment {
  const seconds = Math.fround(one.seconds + other.seconds);
  const sum = one.embedding.map((value, at) => {
    return value * one.seconds + (other.embedding[at] ?? 0) * other.seconds;
  });
  const starts = [...new Set([...one.starts, ...other.starts])].sort((a, b) => a - b);
  return { cluster: one.cluster, seconds, embedding: asStored(toUnitLength(sum)), starts };
}

/** The cosines of a vector and those before it. */
function rowOf(vectors: readonly Float32Array[], n: number): Float32Array {
  const own = vectors[n] ?? new Float32Array(0);
  return Float32Array.from(vectors.slice(0, n), (other) => cosine(own, other));
}

function largest(shares: ReadonlyMap<number, number>): number {
  return [...shares].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

/** One byte for each number, the largest 127: the length is known to be 1. */
function toBytes(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const steps = Int8Array.from(vector, (value) => Math.round((MOST_STEPS * value) / largest));
  return new Uint8Array(steps.buffer);
}

function fromBytes(bytes: Uint8Array): Float32Array {
  const steps = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  return toUnitLength(Float32Array.from(steps));
}
