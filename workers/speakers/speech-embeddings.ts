import type { SpeechFrames } from "./feature-stream.ts";
import { LEAST_EMBEDDED_SAMPLES, type VoiceEmbedder } from "./voice-embedder.ts";

const FRAME = 160;
/** Most audio that is kept, samples: two minutes, longer than any utterance. */
const MOST_SAMPLES = 120 * 16_000;
/** Steps of a stored embedding. */
const STEP = 1 / 127;

/** Embeddings of an operator's network for the speech that is not committed yet. */
export class SpeechEmbeddings {
  readonly #embedder: VoiceEmbedder;
  #audio = new Int16Array(0);
  #end = 0;

  constructor(embedder: VoiceEmbedder) {
    this.#embedder = embedder;
  }

  /** Name and version of the network. */
  get name(): string {
    return this.#embedder.name;
  }

  /** Keeps audio, in order; missing audio in between is silent. */
  push(start: number, pcm: Int16Array): void {
    const fresh = start < this.#end ? pcm.subarray(this.#end - start) : pcm;
    const gap = Math.max(0, start - this.#end);
    if (fresh.length === 0) return;
    const kept = gap > MOST_SAMPLES ? new Int16Array(0) : this.#audio;
    const silence = kept.length === 0 ? 0 : gap;
    const joined = new Int16Array(kept.length + silence + fresh.length);
    joined.set(kept);
    joined.set(fresh, kept.length + silence);
    this.#audio = joined.slice(Math.max(0, joined.length - MOST_SAMPLES));
    this.#end = Math.max(this.#end, start) + fresh.length;
  }

  /** Drops audio before `position`. */
  forget(position: number): void {
    const start = this.#end - this.#audio.length;
    this.#audio = this.#audio.slice(Math.max(0, Math.min(this.#audio.length, position - start)));
  }

  /**
   * The embedding of the speech from its first frame to its last, rounded as in a checkpoint;
   * undefined for less than the network takes, or where it has none.
   */
  of({ starts }: Pick<SpeechFrames, "starts">): Float32Array | undefined {
    const [first, last] = [starts[0], starts.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const origin = this.#end - this.#audio.length;
    const samples = this.#audio.subarray(Math.max(0, first - origin), last + FRAME - origin);
    if (samples.length < LEAST_EMBEDDED_SAMPLES) return undefined;
    return this.#embedder.embed(samples)?.map(toStep);
  }
}

/** The mean of two embeddings by the frames that they stand for; that which is there, if one is. */
export function joinedEmbedding(
  one: { embedding?: Float32Array | undefined; count: number },
  other: { embedding?: Float32Array | undefined; count: number },
): Float32Array | undefined {
  const [a, b] = [one.embedding, other.embedding];
  if (a === undefined || b === undefined) return a ?? b;
  const share = one.count / Math.max(1, one.count + other.count);
  return a.map((value, n) => toStep(share * value + (1 - share) * (b[n] ?? 0)));
}

export function embeddingToBytes(embedding: Float32Array | undefined): Uint8Array {
  return new Uint8Array(
    Int8Array.from(embedding ?? [], (value) => Math.round(value / STEP)).buffer,
  );
}

export function embeddingFromBytes(bytes: Uint8Array): Float32Array | undefined {
  if (bytes.length === 0) return undefined;
  return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), (value) => {
    return value * STEP;
  });
}

function toStep(value: number): number {
  return Math.max(-127, Math.min(127, Math.round(value / STEP))) * STEP + 0;
}
