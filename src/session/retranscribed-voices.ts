import type { RecognisedSegment } from "./command.ts";
import type { SegmentMark } from "./segments.ts";
import { labelName, type Speakers, survivingLabel, UNKNOWN_SPEAKER } from "./speakers.ts";
import type { Voices } from "./write.ts";

/**
 * Assigns labels to the clusters of a second reading: clusters that its checkpoint knew keep
 * theirs, the others get the label that they overlap most with, or the next new one.
 */
export class RetranscribedVoices {
  readonly #speakers: Speakers;
  readonly #labels = new Map<number, string>();
  /** Clusters that the checkpoint knew. */
  readonly #known = new Set<number>();
  readonly #marks: readonly SegmentMark[];
  #fresh: number;

  /** @param marks the segments that the reading replaces, and those before them */
  constructor(
    speakers: Speakers,
    known: Voices,
    segments: readonly RecognisedSegment[],
    marks: readonly SegmentMark[],
  ) {
    this.#speakers = speakers;
    this.#marks = marks;
    this.#fresh = speakers.labels.length;
    for (const [cluster, index] of Object.entries(known)) {
      this.#labels.set(Number(cluster), labelName(survivingLabel(speakers, index)));
      this.#known.add(Number(cluster));
    }
    this.#assignByOverlap(segments);
  }

  /** The label of the segment's voice. */
  labelOf({ cluster }: RecognisedSegment): string {
    if (cluster < 0) return UNKNOWN_SPEAKER;
    const label = this.#labels.get(cluster) ?? labelName(this.#fresh++);
    this.#labels.set(cluster, label);
    return label;
  }

  /**
   * The label of the segment where it lies: for a voice that the checkpoint knew, that voice's
   * label; for another one, the label that most of the segment had before.
   */
  labelThere(segment: RecognisedSegment): string {
    const { start, end, words, cluster } = segment;
    // Clamped words lie where another person spoke.
    const isElsewhere = words.every(({ timesClamped }) => timesClamped);
    if (this.#known.has(cluster) || isElsewhere) return this.labelOf(segment);
    const shared = new Map<string, number>();
    for (const mark of this.#marks) {
      const samples = Math.min(end, mark.end) - Math.max(start, mark.start);
      if (samples <= 0 || mark.label === UNKNOWN_SPEAKER) continue;
      shared.set(mark.label, (shared.get(mark.label) ?? 0) + samples);
    }
    const [most] = [...shared].sort(([, a], [, b]) => b - a);
    if (most !== undefined && 2 * most[1] > end - start) return most[0];
    return this.labelOf(segment);
  }

  /**
   * How likely the segment's voice is that of `label`, 0..1; undefined when the label was not given
   * for its voice.
   */
  confidenceOf(
    { cluster, speakerConfidence }: RecognisedSegment,
    label: string,
  ): number | undefined {
    return this.#labels.get(cluster) === label ? speakerConfidence : undefined;
  }

  /** The segment's cluster, when the first reading has the same voice under it; else -1. */
  clusterOf({ cluster }: RecognisedSegment, label: string): number {
    const index = this.#speakers.clusters[cluster];
    if (index === undefined) return -1;
    return labelName(survivingLabel(this.#speakers, index)) === label ? cluster : -1;
  }

  /** The labels of these clusters, as far as they are known by now. */
  of(clusters: Iterable<number>): Voices {
    const voices: Voices = {};
    for (const cluster of clusters) {
      const label = this.#labels.get(cluster);
      if (label !== undefined) voices[cluster] = Number(label.slice(1)) - 1;
    }
    return voices;
  }

  /** Clusters without a label get the one they overlap most with, each label once. */
  #assignByOverlap(segments: readonly RecognisedSegment[]): void {
    const shared = new Map<string, { cluster: number; label: string; samples: number }>();
    for (const segment of segments) {
      if (segment.cluster < 0 || this.#labels.has(segment.cluster)) continue;
      for (const { start, end, label } of this.#marks) {
        const samples = Math.min(segment.end, end) - Math.max(segment.start, start);
        if (samples <= 0 || label === UNKNOWN_SPEAKER) continue;
        const key = `${segment.cluster} ${label}`;
        const pair = shared.get(key) ?? { cluster: segment.cluster, label, samples: 0 };
        pair.samples += samples;
        shared.set(key, pair);
      }
    }
    const taken = new Set(this.#labels.values());
    for (const { cluster, label } of [...shared.values()].sort((a, b) => b.samples - a.samples)) {
      if (this.#labels.has(cluster) || taken.has(label)) continue;
      this.#labels.set(cluster, label);
      taken.add(label);
    }
  }
}
