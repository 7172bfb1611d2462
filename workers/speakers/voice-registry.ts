import type { StateReader, StateWriter } from "./state-codec.ts";
import { separation } from "./voice-evidence.ts";
import { VoiceStatistics } from "./voice-statistics.ts";

/** Number of newest segments that are kept separately and may be regrouped after an utterance. */
export const WINDOW = 30;
/** Most pieces of speech that are kept, including those of the window. */
export const MOST_PIECES = 96;
/**
 * Most segments that can still be named, the newest; at 700 per hour those of the last three hours.
 */
export const MOST_NAMED = 2048;

/** Committed speech that belongs to one voice as a whole: a segment, or several old ones. */
export interface VoicePiece {
  /** Starts of its segments, in order, without those that are too old to be named. */
  starts: number[];
  cluster: number;
  voice: VoiceStatistics;
}

/**
 * The committed speech of a session and its voices, in bounded space. Comparisons need only sums
 * over frames (see VoiceStatistics), so beyond the window neighbouring pieces of one voice are
 * joined repeatedly, those with the least speech first.
 */
export class VoiceRegistry {
  readonly pieces: VoicePiece[] = [];
  /** Id of the next new voice. */
  nextCluster = 0;
  readonly #voices = new Map<number, VoiceStatistics>();
  #all = VoiceStatistics.none;
  #named = 0;

  /** Clusters that have speech, oldest first. */
  clusters(): number[] {
    return [...this.#voices.keys()]
      .filter((cluster) => (this.#voices.get(cluster)?.count ?? 0) > 0)
      .sort((a, b) => a - b);
  }

  /** Clusters of all pieces, with speech or without. */
  known(): number[] {
    const clusters = new Set(this.pieces.map(({ cluster }) => cluster));
    return [...clusters].filter((cluster) => cluster >= 0).sort((a, b) => a - b);
  }

  voice(cluster: number): VoiceStatistics {
    return this.#voices.get(cluster) ?? VoiceStatistics.none;
  }

  add(piece: VoicePiece): void {
    this.#put(piece);
    this.#recount(new Set([piece.cluster, ...this.#fold()]));
  }

  /** All speech of the session. */
  get all(): VoiceStatistics {
    return this.#all;
  }

  move(pieces: readonly VoicePiece[], cluster: number): void {
    const left = new Set(pieces.map((piece) => piece.cluster));
    for (const piece of pieces) piece.cluster = cluster;
    for (const changed of left.add(cluster)) this.#voices.set(changed, this.#sumOf(changed));
  }

  /**
   * Distances of `voice` to each cluster, the nearest first. When the voice is part of the
   * registry, `own` is its cluster, which is compared without it.
   */
  compare(voice: VoiceStatistics, own = -1): { cluster: number; distance: number }[] {
    const centre = own < 0 ? this.#all.plus(voice) : this.#all;
    return this.clusters()
      .map((cluster) => ({
        cluster,
        rest: cluster === own ? this.voice(cluster).minus(voice) : this.voice(cluster),
      }))
      .filter(({ rest }) => rest.count > 0)
      .map(({ cluster, rest }) => ({ cluster, distance: separation(rest, voice, centre) }))
      .sort((a, b) => a.distance - b.distance || a.cluster - b.cluster);
  }

  write(to: StateWriter): void {
    to.uint32(this.nextCluster);
    to.uint32(this.pieces.length);
    for (const { starts, cluster, voice } of this.pieces) {
      to.int32(cluster);
      to.uint32(starts.length);
      let before = 0;
      for (const [n, start] of starts.entries()) {
        // Starts within a piece are minutes apart, so their differences fit 32 bits.
        if (n === 0) to.float64(start);
        else to.uint32(start - before);
        before = start;
      }
      voice.write(to);
    }
  }

  read(from: StateReader): void {
    const next = from.uint32();
    for (let count = from.uint32(); count > 0; count--) {
      const cluster = from.int32();
      const starts: number[] = [];
      for (let n = from.uint32(); n > 0; n--) {
        const before = starts.at(-1);
        starts.push(before === undefined ? from.float64() : before + from.uint32());
      }
      this.#put({ starts, cluster, voice: VoiceStatistics.read(from) });
    }
    this.#restored(next);
  }

  /** Reads version 1 of the state, which has each segment separately, however many. */
  readSegments(from: StateReader): void {
    const next = from.uint32();
    for (let count = from.uint32(); count > 0; count--) {
      const start = from.float64();
      // The end of the segment, which is not needed.
      from.float64();
      const cluster = from.int32();
      this.#put({ starts: [start], cluster, voice: VoiceStatistics.read(from) });
      this.#fold();
    }
    this.#restored(next);
  }

  #restored(next: number): void {
    this.nextCluster = next;
    this.#recount(new Set(this.pieces.map(({ cluster }) => cluster)));
  }

  #put(piece: VoicePiece): void {
    this.pieces.push(piece);
    this.nextCluster = Math.max(this.nextCluster, piece.cluster + 1);
    this.#named += piece.starts.length;
  }

  /** Reduces the number of pieces; returns the clusters whose sums may have changed. */
  #fold(): number[] {
    const changed: number[] = [];
    while (this.pieces.length > MOST_PIECES) {
      const [kept, gone] = this.#leastPair();
      const [into, from] = [this.pieces[kept], this.pieces[gone]];
      if (into === undefined || from === undefined) break;
      changed.push(into.cluster, from.cluster);
      this.pieces.splice(gone, 1);
      if (kept === gone) {
        this.#named -= from.starts.length;
        continue;
      }
      // Pieces that moved to another voice may overlap in time.
      into.starts = [...into.starts, ...from.starts].sort((a, b) => a - b);
      // Rounded as in a checkpoint, so that a resumed reading continues with the same numbers.
      into.voice = into.voice.plus(from.voice).rounded();
    }
    while (this.#named > MOST_NAMED) this.#forgetName();
    return changed;
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
    for (const [at, { cluster, voice }] of this.pieces.slice(0, -WINDOW).entries()) {
      const before = newest.get(cluster) ?? -1;
      const together = (this.pieces[before]?.voice.count ?? Infinity) + voice.count;
      if (together < least) [pair, least] = [[before, at], together];
      if (voice.count < little) [lone, little] = [at, voice.count];
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

  /**
   * Sums are always computed in the same order, so that a restored registry has exactly the same
   * numbers.
   */
  #recount(changed: ReadonlySet<number>): void {
    this.#all = this.pieces.reduce((all, { voice }) => all.plus(voice), VoiceStatistics.none);
    for (const cluster of changed) this.#voices.set(cluster, this.#sumOf(cluster));
  }

  #sumOf(cluster: number): VoiceStatistics {
    const own = cluster < 0 ? [] : this.pieces.filter((piece) => piece.cluster === cluster);
    return own.reduce((all, { voice }) => all.plus(voice), VoiceStatistics.none);
  }
}
