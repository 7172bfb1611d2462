import { GaussianScorer } from "./gaussians.ts";
import { FRAME_SIZE, FRAMES_PER_SECOND, voiceFrames } from "./voice-frames.ts";
import { type VoiceModel, voiceModel } from "./voice-model.ts";

/** Version of the method: prints of different versions cannot be compared. */
export const PRINT_METHOD = "map-supervector-1";

/**
 * Frames that the background counts for: with fewer frames of a Gaussian its offset is mostly that
 * of the background (relevance MAP, Reynolds 2000).
 */
const RELEVANCE = 16;
const MAGIC = 0x31_50_56;
const HEAD = 12;
const WORD = 32_767;
/**
 * Deviation of a person's median pitch from one occasion to another, and of that of different people,
 * in octaves. Made voices keep their pitch exactly, so that nothing can be learned from them here:
 * these are the usual values of adults (Traunmueller and Eriksson 1995).
 */
const PITCH_DEVIATION = { within: 0.12, between: 0.4 };
/** What a difference of pitch can say against two prints' being of one voice. */
const LEAST_PITCH_RATIO = -4;

/** A voice in numbers. */
export interface VoicePrint {
  /** Offsets of the means from the background, centred on the cohort, of unit length. */
  offsets: Float32Array;
  /** Median of log2 of the pitch in Hz; NaN when unknown. */
  pitch: number;
}

/** A print and the speech that it was made of. */
interface MadePrint {
  print: VoicePrint;
  speechMs: number;
}

/** Makes the print of a voice from samples at 16 kHz, mono; yields between steps of milliseconds. */
export function* makePrint(
  pcm: Int16Array,
  model: VoiceModel = voiceModel(),
): Generator<undefined, MadePrint> {
  const { count, rows, pitch } = yield* voiceFrames(pcm);
  const offsets = yield* offsetsOf(rows, model);
  for (let n = 0; n < offsets.length; n++) offsets[n] = (offsets[n] ?? 0) - (model.centre[n] ?? 0);
  const print = { offsets: toUnitLength(offsets), pitch };
  return { print, speechMs: Math.round((count * 1_000) / FRAMES_PER_SECOND) };
}

/** Offsets of the adapted means from those of the background, in its standard deviations. */
export function* offsetsOf(
  rows: Float32Array,
  { background }: Pick<VoiceModel, "background">,
): Generator<undefined, Float32Array> {
  const { shares, sums } = yield* new GaussianScorer(background).gather(rows);
  const { count, logWeights, means, variances } = background;
  const offsets = new Float32Array(count * FRAME_SIZE);
  for (let g = 0; g < count; g++) {
    const share = shares[g] ?? 0;
    const scale = Math.exp((logWeights[g] ?? 0) / 2) / (share + RELEVANCE);
    for (let c = 0, at = g * FRAME_SIZE; c < FRAME_SIZE; c++, at++) {
      const off = (sums[at] ?? 0) - share * (means[at] ?? 0);
      offsets[at] = (off * scale) / Math.sqrt(variances[at] ?? 1);
    }
  }
  return offsets;
}

export function toUnitLength(values: Float32Array): Float32Array {
  const length = Math.sqrt(inner(values, values));
  return length === 0 ? values : values.map((value) => value / length);
}

function inner(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let n = 0; n < a.length; n++) sum += (a[n] ?? 0) * (b[n] ?? 0);
  return sum;
}

/** Compares prints with one another; keeps how each stands to the cohort. */
export class PrintComparer {
  readonly #model: VoiceModel;
  readonly #standings = new WeakMap<VoicePrint, { mean: number; deviation: number }>();

  constructor(model: VoiceModel = voiceModel()) {
    this.#model = model;
  }

  /**
   * How like two prints are, in standard deviations above how like other voices are to each:
   * symmetric normalisation of the cosine by the cohort (Shum and others 2010).
   */
  score(a: VoicePrint, b: VoicePrint): number {
    const cosine = inner(a.offsets, b.offsets);
    const [one, other] = [this.#standing(a), this.#standing(b)];
    return (cosine - one.mean) / one.deviation + (cosine - other.mean) / other.deviation;
  }

  /** Natural logarithm of how much likelier one voice is than two. */
  logLikelihoodRatio(a: VoicePrint, b: VoicePrint): number {
    const { constant, weight } = this.#model.calibration;
    return constant + weight * this.score(a, b) + pitchRatio(a.pitch - b.pitch);
  }

  #standing(print: VoicePrint): { mean: number; deviation: number } {
    const known = this.#standings.get(print);
    if (known !== undefined) return known;
    const { cohortMean, cohortAxes } = this.#model;
    const mean = inner(cohortMean, print.offsets);
    const square = cohortAxes.reduce((sum, axis) => sum + inner(axis, print.offsets) ** 2, 0);
    const standing = { mean, deviation: Math.sqrt(square) };
    this.#standings.set(print, standing);
    return standing;
  }
}

/** The same of the pitch alone, from its difference in octaves; 0 when one is unknown. */
function pitchRatio(octaves: number): number {
  if (Number.isNaN(octaves)) return 0;
  const { within, between } = PITCH_DEVIATION;
  const bend = (1 / within ** 2 - 1 / between ** 2) / 4;
  return Math.max(LEAST_PITCH_RATIO, Math.log(between / within) - bend * octaves ** 2);
}

/** A print as bytes: magic, pitch and scale as 32-bit floats, then signed 16-bit offsets. */
export function encodePrint({ offsets, pitch }: VoicePrint): Uint8Array {
  const scale = offsets.reduce((most, each) => Math.max(most, Math.abs(each)), 0) / WORD;
  const bytes = Buffer.alloc(HEAD + 2 * offsets.length);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeFloatLE(pitch, 4);
  bytes.writeFloatLE(scale, 8);
  for (const [n, value] of offsets.entries()) {
    bytes.writeInt16LE(scale === 0 ? 0 : Math.round(value / scale), HEAD + 2 * n);
  }
  return bytes;
}

/** Undefined for bytes that `encodePrint` of this version has not written. */
export function decodePrint(print: Uint8Array): VoicePrint | undefined {
  const bytes = Buffer.from(print.buffer, print.byteOffset, print.byteLength);
  const size = voiceModel().centre.length;
  if (bytes.length !== HEAD + 2 * size || bytes.readUInt32LE(0) !== MAGIC) {
    return undefined;
  }
  const scale = bytes.readFloatLE(8);
  const offsets = Float32Array.from(
    { length: size },
    (_, n) => scale * bytes.readInt16LE(HEAD + 2 * n),
  );
  return { offsets, pitch: bytes.readFloatLE(4) };
}
