import { GaussianScorer } from "../voices/gaussians.ts";
import { CEPSTRA } from "../voices/mel-cepstrum.ts";
import { FRAME_SIZE } from "../voices/voice-frames.ts";
import { BACKGROUND_SIZE, speakerBackground } from "./background.ts";
import type { SpeechFrames } from "./feature-stream.ts";
import { LOG_COVARIANCE_SIZE, logCovariance } from "./log-covariance.ts";
import type { StateReader, StateWriter } from "./state-codec.ts";

const OFFSETS = BACKGROUND_SIZE * FRAME_SIZE;
/** Steps of the stored offsets (a 16th of a deviation) and of the stored logarithms. */
const OFFSET_STEP = 1 / 16;
const LOG_STEP = 1 / 32;
/** Frames that the background counts for (relevance MAP, Reynolds 2000). */
const RELEVANCE = 2;
/** Share of the distance of covariances in a similarity, and of that of pitch. */
const COVARIANCE_WEIGHT = 0.01;
const PITCH_WEIGHT = 0.15;
/** Octaves that count at most, and those that stand for an unknown pitch. */
const MOST_OCTAVES = 1;
const UNKNOWN_OCTAVES = 0.25;
const LEAST_PITCHED = 3;
/**
 * Between the cosines of one voice and of two, as trained networks have them: what is published for
 * networks of sherpa-onnx's list. No such network was at hand to measure it.
 */
const EMBEDDING_MIDDLE = 0.45;

/** Length of the vectors by which sketches are compared. */
export const VECTOR_SIZE = OFFSETS + LOG_COVARIANCE_SIZE;

let scorer: GaussianScorer | undefined;

/**
 * What is kept of a stretch of one voice's speech: how its frames differ from the background's
 * Gaussians, how they vary, and the pitch. About 850 bytes, all rounded as in a checkpoint, so that
 * a resumed reading continues with the same numbers. Immutable.
 */
export class VoiceSketch {
  /** Frames of speech. */
  readonly count: number;
  /** Frames that fall to each Gaussian. */
  readonly shares: Float32Array;
  /** Mean offsets of those frames from each Gaussian's mean, in its deviations, row after row. */
  readonly offsets: Float32Array;
  readonly logCovariance: Float32Array;
  /** Mean of the squares of the stretches' `logCovariance`: more than its square when joined. */
  readonly logSquare: number;
  /** Median of log2 of the pitch in Hz; NaN when unknown. */
  readonly pitch: number;
  /** Length of the mean of the stretches' vectors of unit length: 1 for one stretch. */
  readonly unity: number;

  private constructor(fields: Omit<VoiceSketch, "write" | "joined">) {
    this.count = fields.count;
    this.shares = fields.shares;
    this.offsets = fields.offsets;
    this.logCovariance = fields.logCovariance;
    this.logSquare = fields.logSquare;
    this.pitch = fields.pitch;
    this.unity = fields.unity;
  }

  /** Nothing was said. */
  static readonly none = new VoiceSketch({
    count: 0,
    shares: new Float32Array(BACKGROUND_SIZE),
    offsets: new Float32Array(OFFSETS),
    logCovariance: new Float32Array(LOG_COVARIANCE_SIZE),
    logSquare: 0,
    pitch: Number.NaN,
    unity: 0,
  });

  /**
   * Sketches the frames from `from` to before `to`. `mean` is the mean cepstrum of the session's
   * speech so far: what the microphone adds is taken away before frames are given to Gaussians.
   */
  static of(
    { rows, pitches }: SpeechFrames,
    mean: Float64Array,
    from = 0,
    to = pitches.length,
  ): VoiceSketch {
    if (to <= from) return VoiceSketch.none;
    const frames = rows.slice(from * FRAME_SIZE, to * FRAME_SIZE);
    const moments = momentsOf(frames);
    for (let at = 0; at < frames.length; at++) {
      const c = at % FRAME_SIZE;
      if (c < CEPSTRA) frames[at] = (frames[at] ?? 0) - (mean[c] ?? 0);
    }
    const { shares, offsets } = adapted(frames, mean);
    const logs = logCovariance(to - from, moments.sums, moments.products).map(toLogStep);
    return new VoiceSketch({
      count: to - from,
      shares,
      offsets,
      logCovariance: logs,
      logSquare: Math.fround(square(logs)),
      pitch: medianOf(pitches.subarray(from, to)),
      unity: 1,
    });
  }

  /**
   * Of frames of which only the sums and products of their cepstra are known: each Gaussian's frames
   * are taken to differ from it as much as all differ from all.
   */
  static ofMoments(count: number, sums: Float64Array, products: Float64Array): VoiceSketch {
    const { logWeights, means, variances } = speakerBackground();
    const weights = logWeights.map((weight) => Math.exp(weight));
    const offsets = new Float32Array(OFFSETS);
    for (let c = 0; c < CEPSTRA; c++) {
      const all = weights.reduce((sum, w, g) => sum + w * (means[g * FRAME_SIZE + c] ?? 0), 0);
      const off = (sums[c] ?? 0) / count - all;
      for (let at = c; at < OFFSETS; at += FRAME_SIZE) {
        offsets[at] = toOffsetStep(off / Math.sqrt(variances[at] ?? 1));
      }
    }
    const logs = logCovariance(count, sums, products).map(toLogStep);
    return new VoiceSketch({
      ...{ count, offsets, logCovariance: logs, logSquare: Math.fround(square(logs)) },
      shares: weights.map((weight) => toShare(count * weight)),
      ...{ pitch: Number.NaN, unity: 1 },
    });
  }

  /**
   * Several stretches as one, whose similarity to others is the mean of theirs, by their frames.
   * `together` is the similarity of the two directions, -1 to 1.
   */
  joined(other: VoiceSketch, together: number): VoiceSketch {
    const count = this.count + other.count;
    if (this.count === 0) return other;
    if (other.count === 0) return this;
    const share = this.count / count;
    const mix = (a: number, b: number) => share * a + (1 - share) * b;
    const shares = this.shares.map((own, g) => own + (other.shares[g] ?? 0));
    const [a, b] = [share * this.unity, (1 - share) * other.unity];
    return new VoiceSketch({
      count,
      shares: shares.map(toShare),
      offsets: this.offsets.map((own, at) => {
        const g = Math.floor(at / FRAME_SIZE);
        const [mine, all] = [this.shares[g] ?? 0, shares[g] ?? 0];
        const part = all === 0 ? share : mine / all;
        return toOffsetStep(part * own + (1 - part) * (other.offsets[at] ?? 0));
      }),
      logCovariance: this.logCovariance.map((own, at) =>
        toLogStep(mix(own, other.logCovariance[at] ?? 0)),
      ),
      logSquare: Math.fround(mix(this.logSquare, other.logSquare)),
      pitch: Math.fround(
        Number.isNaN(this.pitch)
          ? other.pitch
          : Number.isNaN(other.pitch)
            ? this.pitch
            : mix(this.pitch, other.pitch),
      ),
      unity: Math.fround(Math.sqrt(Math.max(0, a * a + b * b + 2 * a * b * together))),
    });
  }

  write(to: StateWriter): void {
    to.uint32(this.count);
    to.float32(this.logSquare);
    to.float32(this.pitch);
    to.float32(this.unity);
    to.bytes(new Uint8Array(Uint16Array.from(this.shares, (share) => 4 * share).buffer));
    to.bytes(new Uint8Array(Int8Array.from(this.offsets, (each) => each / OFFSET_STEP).buffer));
    to.bytes(new Uint8Array(Int8Array.from(this.logCovariance, (each) => each / LOG_STEP).buffer));
  }

  static read(from: StateReader): VoiceSketch {
    const count = from.uint32();
    const [logSquare, pitch, unity] = [from.float32(), from.float32(), from.float32()];
    const shares = Float32Array.from(new Uint16Array(from.bytes().buffer), (each) => each / 4);
    const offsets = Float32Array.from(
      new Int8Array(from.bytes().buffer),
      (each) => each * OFFSET_STEP,
    );
    const logs = Float32Array.from(new Int8Array(from.bytes().buffer), (each) => each * LOG_STEP);
    const sizes = [shares.length, offsets.length, logs.length];
    if (sizes.join() !== [BACKGROUND_SIZE, OFFSETS, LOG_COVARIANCE_SIZE].join()) {
      throw new RangeError("a sketch of a voice has another size");
    }
    return new VoiceSketch({
      ...{ count, shares, offsets, logCovariance: logs, logSquare, pitch, unity },
    });
  }
}

/**
 * The sketch as a vector for `similarityOf`: the adapted means' direction from the background, of
 * length `unity`, then the logarithm of the covariance. `mean` is the session's mean cepstrum.
 */
export function vectorOf(sketch: VoiceSketch, mean: Float64Array): Float32Array {
  const { variances, logWeights } = speakerBackground();
  const vector = new Float32Array(VECTOR_SIZE);
  let length = 0;
  for (let g = 0; g < BACKGROUND_SIZE; g++) {
    const share = sketch.shares[g] ?? 0;
    const scale = (share / (share + RELEVANCE)) * Math.exp((logWeights[g] ?? 0) / 2);
    for (let c = 0, at = g * FRAME_SIZE; c < FRAME_SIZE; c++, at++) {
      const shift = c < CEPSTRA ? (mean[c] ?? 0) / Math.sqrt(variances[at] ?? 1) : 0;
      const value = scale * ((sketch.offsets[at] ?? 0) - shift);
      vector[at] = value;
      length += value * value;
    }
  }
  const unit = length === 0 ? 0 : sketch.unity / Math.sqrt(length);
  for (let at = 0; at < OFFSETS; at++) vector[at] = (vector[at] ?? 0) * unit;
  const weight = Math.sqrt(2 * COVARIANCE_WEIGHT);
  for (let at = 0; at < LOG_COVARIANCE_SIZE; at++) {
    vector[OFFSETS + at] = weight * (sketch.logCovariance[at] ?? 0);
  }
  return vector;
}

/** A sketch with its vector, and what an operator's network makes of the same speech. */
export interface PlacedSketch {
  sketch: VoiceSketch;
  vector: Float32Array;
  embedding?: Float32Array | undefined;
}

/**
 * How alike two stretches are, for joined ones the mean over their stretches: the cosine of their
 * supervectors, less what their covariances and their pitches differ. Some 0.2 for one voice and
 * -0.2 for two. Where both have an embedding, its cosine decides alone.
 */
export function similarityOf(a: PlacedSketch, b: PlacedSketch): number {
  if (a.embedding !== undefined && b.embedding !== undefined) {
    const cosine = a.embedding.reduce((sum, value, n) => sum + value * (b.embedding?.[n] ?? 0), 0);
    return cosine - EMBEDDING_MIDDLE;
  }
  let inner = 0;
  for (let at = 0; at < VECTOR_SIZE; at++) inner += (a.vector[at] ?? 0) * (b.vector[at] ?? 0);
  const squares = COVARIANCE_WEIGHT * (a.sketch.logSquare + b.sketch.logSquare);
  const apart = Math.abs(a.sketch.pitch - b.sketch.pitch);
  const octaves = Number.isNaN(apart) ? UNKNOWN_OCTAVES : Math.min(MOST_OCTAVES, apart);
  return inner - squares - PITCH_WEIGHT * octaves;
}

/** The cosine of the supervectors alone. */
export function cosineOf(a: PlacedSketch, b: PlacedSketch): number {
  const lengths = a.sketch.unity * b.sketch.unity;
  if (lengths === 0) return 0;
  let inner = 0;
  for (let at = 0; at < OFFSETS; at++) inner += (a.vector[at] ?? 0) * (b.vector[at] ?? 0);
  return inner / lengths;
}

/** Offsets from the background in deviations, from frames without the session's mean. */
function adapted(
  frames: Float32Array,
  mean: Float64Array,
): { shares: Float32Array; offsets: Float32Array } {
  const background = speakerBackground();
  scorer ??= new GaussianScorer(background);
  const gathered = finished(scorer.gather(frames));
  const shares = Float32Array.from(gathered.shares, toShare);
  const offsets = new Float32Array(OFFSETS);
  for (let at = 0; at < OFFSETS; at++) {
    const [g, c] = [Math.floor(at / FRAME_SIZE), at % FRAME_SIZE];
    const share = gathered.shares[g] ?? 0;
    if (share < 0.125) continue;
    // With the session's mean in it, so that a later and better estimate can be taken away.
    const colour = c < CEPSTRA ? (mean[c] ?? 0) : 0;
    const off = (gathered.sums[at] ?? 0) / share + colour - (background.means[at] ?? 0);
    offsets[at] = toOffsetStep(off / Math.sqrt(background.variances[at] ?? 1));
  }
  return { shares, offsets };
}

function momentsOf(frames: Float32Array): { sums: Float64Array; products: Float64Array } {
  const sums = new Float64Array(CEPSTRA);
  const products = new Float64Array(LOG_COVARIANCE_SIZE);
  for (let row = 0; row < frames.length; row += FRAME_SIZE) {
    for (let i = 0, at = 0; i < CEPSTRA; i++) {
      const a = frames[row + i] ?? 0;
      sums[i] = (sums[i] ?? 0) + a;
      for (let j = 0; j <= i; j++, at++) {
        products[at] = (products[at] ?? 0) + a * (frames[row + j] ?? 0);
      }
    }
  }
  return { sums, products };
}

function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function medianOf(pitches: Float32Array): number {
  const voiced = pitches.filter((pitch) => !Number.isNaN(pitch)).sort();
  return voiced.length < LEAST_PITCHED ? Number.NaN : (voiced[voiced.length >> 1] ?? Number.NaN);
}

function square(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}

function toShare(value: number): number {
  return Math.min(65_535, Math.round(4 * value)) / 4;
}

function toOffsetStep(value: number): number {
  return Math.max(-127, Math.min(127, Math.round(value / OFFSET_STEP))) * OFFSET_STEP + 0;
}

function toLogStep(value: number): number {
  return Math.max(-127, Math.min(127, Math.round(value / LOG_STEP))) * LOG_STEP + 0;
}
