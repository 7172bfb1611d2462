import { changePoints } from "./change-points.ts";
import { FeatureStream, FRAMES_PER_SECOND } from "./feature-stream.ts";
import { NEW_VOICE_FRAMES, reclusterAll, reclusterNewest } from "./recluster.ts";
import type { SpeakerProposal, SpeakerTracker, SpeakerTurn } from "./speaker-tracker.ts";
import { StateReader, StateWriter } from "./state-codec.ts";
import { VoiceRegistry } from "./voice-registry.ts";
import { VoiceStatistics } from "./voice-statistics.ts";

/** Version 1 kept each segment of the session separately; such states can still be read. */
const STATE_VERSION = 2;
/** With less speech than this the speaker is unknown. */
const LEAST_FRAMES = Math.round(0.4 * FRAMES_PER_SECOND);
const CURRENT_FRAMES = 2 * FRAMES_PER_SECOND;

/** Tracks the speakers of one session with Gaussians of mel cepstra. */
export class SessionTracker implements SpeakerTracker {
  readonly modelVersion = "mfcc-gaussian-bayes-1";
  readonly #features = new FeatureStream();
  readonly #registry = new VoiceRegistry();
  #committedTo = 0;

  constructor(checkpoint?: Uint8Array) {
    if (checkpoint) this.#restore(checkpoint);
  }

  push(start: number, pcm: Int16Array): void {
    this.#features.push(start, pcm);
  }

  skip(position: number): void {
    this.#features.skip(position);
  }

  currentCluster(): number {
    const { rows } = this.#features.newest(CURRENT_FRAMES, this.#committedTo);
    const voice = VoiceStatistics.of(rows);
    return voice.count < LEAST_FRAMES ? -1 : (this.#registry.compare(voice)[0]?.cluster ?? -1);
  }

  turns(start: number, end: number): SpeakerTurn[] {
    const speech = this.#features.between(start, end);
    const { starts, rows } = speech;
    const turns: SpeakerTurn[] = [];
    const cuts = [
      0,
      ...changePoints(speech, this.#registry.all.plus(VoiceStatistics.of(rows))),
      starts.length,
    ];
    let next = this.#registry.nextCluster;
    for (let i = 0; i + 1 < cuts.length; i++) {
      const voice = VoiceStatistics.of(rows, cuts[i], cuts[i + 1]);
      const cluster = this.#identify(voice, next);
      if (cluster === next) next++;
      const from = i === 0 ? start : (starts[cuts[i] ?? 0] ?? start);
      const last = turns.at(-1);
      if (last) last.end = from;
      if (last && last.cluster === cluster) last.end = end;
      else turns.push({ start: from, end, cluster, confidence: 0 });
    }
    return turns;
  }

  commit(segments: readonly SpeakerTurn[], end: number): void {
    for (const segment of segments) {
      const { rows } = this.#features.between(segment.start, segment.end);
      const voice = VoiceStatistics.of(rows).rounded();
      this.#registry.add({ starts: [segment.start], cluster: segment.cluster, voice });
    }
    this.#committedTo = Math.max(this.#committedTo, end);
    this.#features.forget(this.#committedTo);
  }

  revisions(): SpeakerProposal {
    return this.#proposing(() => reclusterNewest(this.#registry));
  }

  finalPass(): SpeakerProposal {
    return this.#proposing(() => reclusterAll(this.#registry));
  }

  clusters(): number[] {
    return this.#registry.known();
  }

  checkpoint(): Uint8Array {
    const to = new StateWriter();
    to.uint32(STATE_VERSION);
    to.float64(this.#committedTo);
    this.#features.write(to);
    this.#registry.write(to);
    return to.finish();
  }

  #restore(bytes: Uint8Array): void {
    const from = new StateReader(bytes);
    const version = from.uint32();
    if (version !== 1 && version !== STATE_VERSION) {
      throw new RangeError(`unknown speaker state version ${version}`);
    }
    this.#committedTo = from.float64();
    this.#features.read(from);
    if (version === 1) this.#registry.readSegments(from);
    else this.#registry.read(from);
  }

  #identify(voice: VoiceStatistics, next: number): number {
    if (voice.count < LEAST_FRAMES) return this.#registry.pieces.at(-1)?.cluster ?? -1;
    const [nearest] = this.#registry.compare(voice);
    if (!nearest) return next;
    return nearest.distance > 0 && voice.count >= NEW_VOICE_FRAMES ? next : nearest.cluster;
  }

  /** The label changes that `change` caused: merged clusters, and other segments that moved. */
  #proposing(change: () => void): SpeakerProposal {
    const { pieces } = this.#registry;
    const before = pieces.map((piece) => piece.cluster);
    change();
    const into = new Map<number, number>();
    const left = new Set(pieces.map((piece) => piece.cluster));
    pieces.forEach(({ cluster }, i) => {
      const from = before[i] ?? -1;
      if (from >= 0 && !left.has(from) && !into.has(from)) into.set(from, cluster);
    });
    return {
      merges: [...into].map(([from, to]) => ({ from, into: to })),
      segments: pieces
        .filter(({ cluster }, i) => cluster !== (into.get(before[i] ?? -1) ?? before[i]))
        .flatMap(({ starts, cluster }) => starts.map((start) => ({ start, cluster })))
        .sort((a, b) => a.start - b.start),
    };
  }
}

/**
 * Creates a tracker for one session, from its beginning or from `checkpoint`. The tracker is
 * synchronous and deterministic. Throws RangeError when the checkpoint has another version.
 */
export function createSpeakerTracker(checkpoint?: Uint8Array): SpeakerTracker {
  return new SessionTracker(checkpoint);
}
