import { CEPSTRA } from "../voices/mel-cepstrum.ts";
import { FRAME_SIZE } from "../voices/voice-frames.ts";
import { FeatureStream, FRAMES_PER_SECOND, type SpeechFrames } from "./feature-stream.ts";
import { readOlderState } from "./older-state.ts";
import { attribute, nearestVoice, reclusterAll } from "./recluster.ts";
import { runsOf, wholeOf } from "./runs.ts";
import type { SpeakerProposal, SpeakerTracker, SpeakerTurn } from "./speaker-tracker.ts";
import { SpeechEmbeddings } from "./speech-embeddings.ts";
import { StateReader, StateWriter } from "./state-codec.ts";
import type { VoiceEmbedder } from "./voice-embedder.ts";
import { type VoicePiece, VoiceRegistry } from "./voice-registry.ts";
import { VoiceSketch, vectorOf } from "./voice-sketch.ts";

/** Versions 1 and 2 can still be read: see `readOlderState`. */
const STATE_VERSION = 3;
const METHOD = "map-supervector-2";
/** With less speech than this the speaker is unknown. */
const LEAST_FRAMES = Math.round(0.4 * FRAMES_PER_SECOND);
/** Between the starts of two frames, in samples. */
const FRAME = 160;
const CURRENT_FRAMES = 2 * FRAMES_PER_SECOND;

/** Tracks the speakers of one session by supervectors, covariances and pitch. */
export class SessionTracker implements SpeakerTracker {
  readonly modelVersion: string;
  readonly #features = new FeatureStream();
  readonly #registry = new VoiceRegistry();
  #committedTo = 0;
  /** What the newest utterance made of the pieces before it. */
  #revised: ReadonlyMap<VoicePiece, number> = new Map();

  readonly #embeddings: SpeechEmbeddings | undefined;

  constructor(checkpoint?: Uint8Array, embedder?: VoiceEmbedder) {
    this.#embeddings = embedder && new SpeechEmbeddings(embedder);
    this.modelVersion = embedder === undefined ? METHOD : `${METHOD}+${embedder.name}`;
    if (checkpoint) this.#restore(checkpoint);
  }

  push(start: number, pcm: Int16Array): void {
    this.#embeddings?.push(start, pcm);
    this.#features.push(start, pcm);
  }

  skip(position: number): void {
    this.#features.skip(position);
  }

  currentCluster(): number {
    const speech = this.#features.newest(CURRENT_FRAMES, this.#committedTo);
    if (speech.starts.length < LEAST_FRAMES) return -1;
    const mean = this.#registry.meanWith(momentsOf(speech));
    const sketch = VoiceSketch.of(speech, mean);
    return nearestVoice(this.#registry, { sketch, vector: vectorOf(sketch, mean) });
  }

  turns(start: number, end: number): SpeakerTurn[] {
    const speech = this.#features.between(start, end);
    const mean = this.#registry.meanWith(momentsOf(speech));
    const embeddings = this.#embeddings;
    const runs = runsOf(speech, mean, embeddings && ((frames) => embeddings.of(frames)));
    const fresh = runs.map((run) => ({ ...run, utterance: start }));
    const { clusters, confidences, revised } = attribute(this.#registry, fresh);
    this.#revised = revised;
    const from = (n: number) => (n === 0 ? start : (speech.starts[runs[n]?.from ?? 0] ?? end));
    const spokenTo = (n: number) => {
      const last = speech.starts[(runs[n + 1]?.from ?? speech.starts.length) - 1];
      return last === undefined ? undefined : last + FRAME;
    };
    return runs.map((_, n) => ({
      start: from(n),
      end: n === runs.length - 1 ? end : from(n + 1),
      spokenTo: spokenTo(n),
      cluster: clusters[n] ?? -1,
      confidence: confidences[n] ?? 0,
    }));
  }

  commit(segments: readonly SpeakerTurn[], end: number): void {
    const speech = segments.map((each) => this.#features.between(each.start, each.end));
    for (const each of speech) this.#registry.heard(momentsOf(each));
    const utterance = segments[0]?.start;
    for (const [n, { start, cluster }] of segments.entries()) {
      const frames = speech[n];
      if (frames === undefined) continue;
      const { sketch, within } = wholeOf(frames, this.#registry.mean);
      const embedding = this.#embeddings?.of(frames);
      const piece = { starts: [start], cluster, sketch, within, utterance };
      this.#registry.add(embedding === undefined ? piece : { ...piece, embedding });
    }
    this.#embeddings?.forget(end);
    this.#committedTo = Math.max(this.#committedTo, end);
    this.#features.forget(this.#committedTo);
  }

  revisions(): SpeakerProposal {
    const revised = this.#revised;
    this.#revised = new Map();
    return this.#proposing(() => this.#registry.rename(revised));
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
    to.bytes(Buffer.from(this.#embeddings?.name ?? ""));
    this.#features.write(to);
    this.#registry.write(to);
    return to.finish();
  }

  #restore(bytes: Uint8Array): void {
    const from = new StateReader(bytes);
    const version = from.uint32();
    if (version !== 1 && version !== 2 && version !== STATE_VERSION) {
      throw new RangeError(`unknown speaker state version ${version}`);
    }
    this.#committedTo = from.float64();
    if (version === STATE_VERSION) {
      const network = Buffer.from(from.bytes()).toString();
      this.#features.read(from);
      this.#registry.read(from, network === (this.#embeddings?.name ?? ""));
    } else this.#features.goOn(readOlderState(from, version, this.#registry));
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
 * synchronous and deterministic. With an `embedder` voices are compared by its vectors; those of a
 * checkpoint that another network made are left out. Throws RangeError when the checkpoint has
 * another version.
 */
export function createSpeakerTracker(
  checkpoint?: Uint8Array,
  embedder?: VoiceEmbedder,
): SpeakerTracker {
  return new SessionTracker(checkpoint, embedder);
}

function momentsOf({ rows, starts }: SpeechFrames): { sums: Float64Array; frames: number } {
  const sums = new Float64Array(CEPSTRA);
  for (let at = 0; at < rows.length; at += FRAME_SIZE) {
    for (let c = 0; c < CEPSTRA; c++) sums[c] = (sums[c] ?? 0) + (rows[at + c] ?? 0);
  }
  return { sums, frames: starts.length };
}
