import type { SpeakerTurn } from "./speaker-tracker.ts";
import type { StateReader, StateWriter } from "./state-codec.ts";
import { separation } from "./voice-evidence.ts";
import { VoiceStatistics } from "./voice-statistics.ts";

/** A committed segment with the speech heard in it. */
export interface VoiceSegment extends SpeakerTurn {
  voice: VoiceStatistics;
}

/** The committed segments of a session and the voices they were given to. */
export class VoiceBook {
  readonly segments: VoiceSegment[] = [];
  /** The id that the next new voice gets. */
  nextCluster = 0;
  readonly #voices = new Map<number, VoiceStatistics>();
  #all = VoiceStatistics.none;

  /** Clusters that have speech, oldest first. */
  clusters(): number[] {
    return [...this.#voices.keys()]
      .filter((cluster) => (this.#voices.get(cluster)?.count ?? 0) > 0)
      .sort((a, b) => a - b);
  }

  voice(cluster: number): VoiceStatistics {
    return this.#voices.get(cluster) ?? VoiceStatistics.none;
  }

  add(segment: VoiceSegment): void {
    this.segments.push(segment);
    this.nextCluster = Math.max(this.nextCluster, segment.cluster + 1);
    this.#all = this.#all.plus(segment.voice);
    this.#recount(segment.cluster);
  }

  /** All speech of the session. */
  get all(): VoiceStatistics {
    return this.#all;
  }

  move(segments: readonly VoiceSegment[], cluster: number): void {
    const left = new Set(segments.map((segment) => segment.cluster));
    for (const segment of segments) segment.cluster = cluster;
    for (const changed of left.add(cluster)) this.#recount(changed);
  }

  of(cluster: number): VoiceSegment[] {
    return this.segments.filter((segment) => segment.cluster === cluster);
  }

  /**
   * How far `voice` is from each cluster, the nearest first. When it is a part of the book, its own
   * cluster is taken without it.
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
    to.uint32(this.segments.length);
    for (const segment of this.segments) {
      to.float64(segment.start);
      to.float64(segment.end);
      to.int32(segment.cluster);
      segment.voice.write(to);
    }
  }

  read(from: StateReader): void {
    const next = from.uint32();
    const count = from.uint32();
    for (let i = 0; i < count; i++) {
      const start = from.float64();
      const end = from.float64();
      const cluster = from.int32();
      const voice = VoiceStatistics.read(from);
      this.segments.push({ start, end, cluster, voice });
      this.#all = this.#all.plus(voice);
    }
    this.nextCluster = next;
    for (const cluster of new Set(this.segments.map((segment) => segment.cluster))) {
      this.#recount(cluster);
    }
  }

  /** Always summed in the same order, so that a restored book has the very same numbers. */
  #recount(cluster: number): void {
    if (cluster < 0) return;
    const sum = this.of(cluster).reduce((all, { voice }) => all.plus(voice), VoiceStatistics.none);
    this.#voices.set(cluster, sum);
  }
}
