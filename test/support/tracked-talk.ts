import { createDeferred } from "../../src/base/deferred.ts";
import { SessionTracker } from "../../workers/speakers/session-tracker.ts";
import type { SpeakerProposal } from "../../workers/speakers/speaker-tracker.ts";
import type { VoiceAnalysis } from "../../workers/speakers/voice-analysis.ts";
import { RememberedAnswers } from "../eval/remembered-answers.ts";

const BLOCK = 1_600;
const PAUSE = 8_000;

/** A segment and whose it is now, by the tracker's cluster. */
interface Told {
  speaker: string;
  start: number;
  cluster: number;
}

/**
 * People who speak one after the other, each turn an utterance with half a second behind it, and whom the
 * tracker takes them for. What is said again is asked of the networks once.
 */
export class TrackedTalk {
  readonly #tracker: SessionTracker;
  readonly #told: Told[] = [];
  #news = createDeferred<void>();
  #at = 0;

  constructor(voices: VoiceAnalysis) {
    this.#tracker = new SessionTracker(new RememberedAnswers(voices));
    this.#tracker.onNews(() => this.#news.resolve());
  }

  /** How long it has been going on, seconds. */
  get seconds(): number {
    return this.#at / 16_000;
  }

  async say(speaker: string, pcm: Int16Array): Promise<void> {
    const [tracker, start] = [this.#tracker, this.#at];
    const end = start + pcm.length;
    tracker.begin(start);
    for (let from = 0; from < pcm.length; from += BLOCK) {
      tracker.push(start + from, pcm.subarray(from, from + BLOCK));
    }
    for (; !tracker.settle(start, end); this.#news = createDeferred()) await this.#news.promise;
    const turns = tracker.turns(start, end);
    tracker.commit(turns, end);
    for (const { start, cluster } of turns) this.#told.push({ speaker, start, cluster });
    this.#apply(tracker.revisions());
    tracker.push(end, new Int16Array(PAUSE));
    this.#at = end + PAUSE;
  }

  /** The clusters of each person after the final pass, in order of first speech. */
  finish(): Record<string, number[]> {
    this.#apply(this.#tracker.finalPass());
    const clusters: Record<string, number[]> = {};
    for (const { speaker, cluster } of this.#told) {
      clusters[speaker] = [...new Set([...(clusters[speaker] ?? []), cluster])];
    }
    return clusters;
  }

  #apply({ segments, merges }: SpeakerProposal): void {
    const into = new Map(merges.map((merge) => [merge.from, merge.into]));
    const moved = new Map(segments.map(({ start, cluster }) => [start, cluster]));
    for (const told of this.#told) {
      told.cluster = moved.get(told.start) ?? into.get(told.cluster) ?? told.cluster;
    }
  }
}
