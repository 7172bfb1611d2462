import { CEPSTRA } from "../voices/mel-cepstrum.ts";
import type { Within } from "./agglomerate.ts";
import { embeddingFromBytes, embeddingToBytes, joinedEmbedding } from "./speech-embeddings.ts";
import type { StateReader, StateWriter } from "./state-codec.ts";
import {
  cosineOf,
  type PlacedSketch,
  similarityOf,
  VoiceSketch,
  vectorOf,
} from "./voice-sketch.ts";

/** Number of newest segments that are kept separately. */
export const WINDOW = 30;
/** Most pieces of speech that are kept, including those of the window. */
export const MOST_PIECES = 96;
/**
 * Most segments that can still be named, the newest; at 700 per hour those of the last three hours.
 */
export const MOST_NAMED = 2048;

const NO_UTTERANCE = -1;

/** Committed speech that belongs to one voice as a whole: a segment, or several old ones. */
export interface VoicePiece {
  /** Starts of its segments, in order, without those that are too old to be named. */
  starts: number[];
  cluster: number;
  sketch: VoiceSketch;
  /** How alike the blocks of several are; undefined for one. */
  within: Within | undefined;
  /** Of the operator's network, where there is one: the mean of its segments'. */
  embedding?: Float32Array | undefined;
  /** Where its utterance began; undefined for segments of several. */
  utterance: number | undefined;
}

/**
 * The committed speech of a session and its voices, in bounded space. Comparisons need only mean
 * vectors (see VoiceSketch), so beyond the window neighbouring pieces of one voice are joined
 * repeatedly, those with the least speech first.
 */
export class VoiceRegistry {
  readonly pieces: VoicePiece[] = [];
  /** Id of the next new voice. */
  nextCluster = 0;
  /** Sums of the cepstra of all committed speech, for the session's mean. */
  readonly #sums = new Float64Array(CEPSTRA);
  #frames = 0;
  #named = 0;
  #placed: PlacedSketch[] | undefined;

  /** Clusters of all pieces, with speech or without, oldest first. */
  known(): number[] {
    const clusters = new Set(this.pieces.map(({ cluster }) => cluster));
    return [...clusters].filter((cluster) => cluster >= 0).sort((a, b) => a - b);
  }

  /** The mean cepstrum of the session's speech, with the frames of `more` besides. */
  meanWith(more: { sums: Float64Array; frames: number }): Float64Array {
    const frames = Math.max(1, this.#frames + more.frames);
    return this.#sums.map((sum, c) => (sum + (more.sums[c] ?? 0)) / frames);
  }

  /** The mean cepstrum of the session's committed speech. */
  get mean(): Float64Array {
    return this.meanWith({ sums: new Float64Array(CEPSTRA), frames: 0 });
  }

  /** Counts committed speech towards the session's mean. */
  heard({ sums, frames }: { sums: Float64Array; frames: number }): void {
    for (let c = 0; c < CEPSTRA; c++) {
      this.#sums[c] = Math.fround((this.#sums[c] ?? 0) + (sums[c] ?? 0));
    }
    this.#frames += frames;
    this.#placed = undefined;
  }

  add(piece: VoicePiece): void {
    this.#put(piece);
    this.#fold();
    this.#placed = undefined;
  }

  /** Gives pieces to other clusters. */
  rename(clusters: ReadonlyMap<VoicePiece, number>): void {
    for (const piece of this.pieces) {
      piece.cluster = clusters.get(piece) ?? piece.cluster;
      this.nextCluster = Math.max(this.nextCluster, piece.cluster + 1);
    }
  }

  /** The pieces' sketches with their vectors, in the same order. */
  placed(): readonly PlacedSketch[] {
    if (this.#placed === undefined) {
      const { mean } = this;
      this.#placed = this.pieces.map(({ sketch, embedding }) => {
        return { sketch, embedding, vector: vectorOf(sketch, mean) };
      });
    }
    return this.#placed;
  }

  write(to: StateWriter): void {
    to.uint32(this.nextCluster);
    to.uint32(this.#frames);
    for (const sum of this.#sums) to.float32(sum);
    to.uint32(this.pieces.length);
    for (const { starts, cluster, sketch, within, utterance, embedding } of this.pieces) {
      to.int32(cluster);
      to.float64(utterance ?? NO_UTTERANCE);
      to.uint32(starts.length);
      let before = 0;
      for (const [n, start] of starts.entries()) {
        // Starts within a piece are minutes apart, so their differences fit 32 bits.
        if (n === 0) to.float64(start);
        else to.uint32(start - before);
        before = start;
      }
      to.float32(within?.sum ?? 0);
      to.float32(within?.weight ?? 0);
      to.bytes(embeddingToBytes(embedding));
      sketch.write(to);
    }
  }

  /** Reads what `write` wrote; without `keepEmbeddings` those of another network are left out. */
  read(from: StateReader, keepEmbeddings = true): void {
    const next = from.uint32();
    this.#frames = from.uint32();
    for (let c = 0; c < CEPSTRA; c++) this.#sums[c] = from.float32();
    for (let count = from.uint32(); count > 0; count--) {
      const cluster = from.int32();
      const told = from.float64();
      const utterance = told === NO_UTTERANCE ? undefined : told;
      const starts: number[] = [];
      for (let n = from.uint32(); n > 0; n--) {
        const before = starts.at(-1);
        starts.push(before === undefined ? from.float64() : before + from.uint32());
      }
      const [sum, weight] = [from.float32(), from.float32()];
      const within = weight > 0 ? { sum, weight } : undefined;
      const embedding = embeddingFromBytes(from.bytes());
      const sketch = VoiceSketch.read(from);
      this.#put({
        ...{ starts, cluster, within, utterance, sketch },
        ...(keepEmbeddings && embedding !== undefined ? { embedding } : {}),
      });
    }
    this.nextCluster = Math.max(next, this.nextCluster);
  }

  #put(piece: VoicePiece): void {
    this.pieces.push(piece);
    this.nextCluster = Math.max(this.nextCluster, piece.cluster + 1);
    this.#named += piece.starts.length;
  }

  /** Reduces the number of pieces. */
  #fold(): void {
    while (this.pieces.length > MOST_PIECES) {
      const [kept, gone] = this.#leastPair();
      const [into, from] = [this.pieces[kept], this.pieces[gone]];
      if (into === undefined || from === undefined) break;
      this.pieces.splice(gone, 1);
      if (kept === gone) {
        this.#named -= from.starts.length;
        continue;
      }
      this.#join(into, from);
    }
    while (this.#named > MOST_NAMED) this.#forgetName();
  }

  #join(into: VoicePiece, from: VoicePiece): void {
    const { mean } = this;
    const [a, b] = [into, from].map(({ sketch, embedding }): PlacedSketch => {
      return { sketch, embedding, vector: vectorOf(sketch, mean) };
    });
    if (a === undefined || b === undefined) return;
    const weight = into.sketch.count * from.sketch.count;
    const joined = [into.within, from.within, { sum: weight * similarityOf(a, b), weight }];
    const total = (of: (each: Within) => number) =>
      Math.fround(joined.reduce((sum, each) => sum + (each ? of(each) : 0), 0));
    into.within = { sum: total(({ sum }) => sum), weight: total((each) => each.weight) };
    const embedding = joinedEmbedding(
      { embedding: into.embedding, count: into.sketch.count },
      { embedding: from.embedding, count: from.sketch.count },
    );
    if (embedding !== undefined) into.embedding = embedding;
    into.sketch = into.sketch.joined(from.sketch, cosineOf(a, b));
    into.utterance = undefined;
    // Pieces that moved to another voice may overlap in time.
    into.starts = [...into.starts, ...from.starts].sort((one, other) => one - other);
  }

  /**
   * The two neighbouring pieces of one voice, older than the window, with the least speech
   * together. If each piece has a different voice, it is twice the piece with the least speech,
   * which is then dropped.
   */
  #leastPair(): [number, number] {
    const newest = new Map<number, number>();
    let [pair, least]: [[number, number], number] = [[-1, -1], Number.POSITIVE_INFINITY];
    let [lone, little] = [0, Number.POSITIVE_INFINITY];
    for (const [at, { cluster, sketch }] of this.pieces.slice(0, -WINDOW).entries()) {
      const before = newest.get(cluster) ?? -1;
      const together = (this.pieces[before]?.sketch.count ?? Infinity) + sketch.count;
      if (together < least) [pair, least] = [[before, at], together];
      if (sketch.count < little) [lone, little] = [at, sketch.count];
      newest.set(cluster, at);
    }
    return pair[0] < 0 ? [lone, lone] : pair;
  }

  #forgetName(): void {
    const oldest = this.pieces.reduce((a, b) =>
      (a.starts[0] ?? Infinity) <= (b.starts[0] ?? Infinity) ? a : b,
    );
    oldest.starts.shift();
    this.#named -= 1;
  }
}
