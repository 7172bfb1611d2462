import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { ACTIVITY_FRAME, SpeechActivity } from "../audio/speech-activity.ts";
import { LEAST_EMBEDDED } from "../inference/voice-shapes.ts";
import { isNarrow, throughTelephone } from "./telephone-band.ts";
import type { VoiceAnalysis } from "./voice-analysis.ts";
import { cosine, toUnitLength } from "./voice-vectors.ts";

/** Name of the network and version of the method. */
export const PRINT_METHOD = "campplus-2";

/** Frames as loud as the loudest tenth are taken for voice, and those down to 25 dB below. */
const LOUD = 0.9;
const QUIETEST = 10 ** -2.5;
/** Speech that is embedded in one subsegment, 3 s, in samples. */
const SUBSEGMENT = 3 * SESSION_RATE;
/** At most so many subsegments, spread over the speech. */
const MOST_SUBSEGMENTS = 20;
/**
 * The logarithm of the likelihood ratio is taken for a straight line of the cosine, another one for each pair of lines:
 * on two telephones voices are most alike. That of whole voices is the mean of what logistic regression finds on each
 * half of seven people, the others were chosen by hand, so that of eight people hardly a stranger is named (test/tried.md).
 */
const CALIBRATIONS = {
  wide: { constant: -19.6, weight: 39.5 },
  mixed: { constant: -31.8, weight: 50 },
  telephones: { constant: -57.8, weight: 80 },
};
/** Of prints with vectors of both bands, and of those that one vector stood for both. */
const MAGIC = 0x33_50_56;
const MAGIC_OF_ONE = 0x32_50_56;
const HEAD = 4;
const BYTES = 2;
const MOST_STEPS = 32_767;

/** A voice in numbers: vectors of unit length. */
export interface VoicePrint {
  /** Of what a telephone lets through of it. */
  narrow: Float32Array;
  /** Of all of it; absent where no more was heard. */
  wide?: Float32Array | undefined;
  /** Whether one vector stands for both, of a line that is not known. */
  isOfOne?: boolean;
}

/** A print and the speech that it was made of. */
interface MadePrint {
  print: VoicePrint;
  speechMs: number;
}

/**
 * Makes the print of a voice from samples at 16 kHz, mono: the mean of the vectors of its speech, as it
 * is and as a telephone would let it through, so that lines of both kinds can be compared with it.
 * Yields between steps of milliseconds, and promises while the networks work. Throws AppError
 * `unavailable` when they fail.
 */
export function* makePrint(
  pcm: Int16Array,
  analysis: VoiceAnalysis,
): Generator<Promise<unknown> | undefined, MadePrint> {
  const speech = speechOf(pcm);
  yield;
  const speechMs = Math.round((speech.length * 1_000) / SESSION_RATE);
  const subsegments = subsegmentsOf(speech);
  // What the networks are given goes to their threads, and is not here any more.
  const heard = yield* meanVector(subsegments, analysis, (subsegment) => subsegment.slice());
  if (isNarrow(speech)) return { print: { narrow: heard }, speechMs };
  const narrow = yield* meanVector(subsegments, analysis, throughTelephone);
  return { print: { narrow, wide: heard }, speechMs };
}

/** At most so much speech as is embedded, spread over all of it. */
function subsegmentsOf(speech: Int16Array): Int16Array[] {
  const count = Math.max(1, Math.min(MOST_SUBSEGMENTS, Math.floor(speech.length / SUBSEGMENT)));
  return Array.from({ length: count }, (_, n) => {
    const from = Math.floor((n * Math.max(0, speech.length - SUBSEGMENT)) / Math.max(1, count - 1));
    return speech.slice(from, from + SUBSEGMENT);
  });
}

function* meanVector(
  subsegments: readonly Int16Array[],
  analysis: VoiceAnalysis,
  heard: (subsegment: Int16Array) => Int16Array,
): Generator<Promise<unknown> | undefined, Float32Array> {
  const sum = new Float32Array(analysis.vectorSize);
  for (const subsegment of subsegments) {
    if (subsegment.length < LEAST_EMBEDDED) break;
    const pending = analysis.embed(heard(subsegment));
    yield pending.settled;
    for (const [at, value] of (pending.numbers ?? []).entries()) sum[at] = (sum[at] ?? 0) + value;
  }
  return toUnitLength(sum);
}

/**
 * Sound of a voice without its pauses: the frames that are not much quieter than its loud ones. What a network would
 * say of them tells little here, as all of it is a label's own: of one man on a telephone it took a tenth for speech.
 */
function speechOf(pcm: Int16Array): Int16Array {
  const whole = new SpeechActivity();
  const count = Math.floor(pcm.length / ACTIVITY_FRAME);
  const frames = Array.from({ length: count }, (_, n) =>
    whole.pass(pcm.subarray(n * ACTIVITY_FRAME, (n + 1) * ACTIVITY_FRAME)),
  );
  const energies = frames.map((frame) => frame.reduce((sum, value) => sum + value ** 2, 0));
  const loud = energies.toSorted((one, other) => one - other)[Math.floor(LOUD * count)] ?? 0;
  const speech = new Int16Array(pcm.length);
  let length = 0;
  for (const [n, frame] of frames.entries()) {
    const energy = energies[n] ?? 0;
    if (energy === 0 || energy < QUIETEST * loud) continue;
    speech.set(frame, length);
    length += frame.length;
  }
  return speech.subarray(0, length);
}

/** Natural logarithm of how much likelier one voice is than two: by all of it where both have that. */
export function logLikelihoodRatio(a: VoicePrint, b: VoicePrint): number {
  if (a.wide === undefined || b.wide === undefined) {
    return logRatio(CALIBRATIONS[narrowLines(a, b)], a.narrow, b.narrow);
  }
  return logRatio(CALIBRATIONS.wide, a.wide, b.wide);
}

function logRatio(
  { constant, weight }: { constant: number; weight: number },
  a: Float32Array,
  b: Float32Array,
): number {
  return constant + weight * cosine(a, b);
}

/** Of two lines that are not both wide. One that is not known may be a telephone's. */
function narrowLines(a: VoicePrint, b: VoicePrint): "mixed" | "telephones" {
  const isKnown = a.isOfOne !== true && b.isOfOne !== true;
  return isKnown && (a.wide === undefined) !== (b.wide === undefined) ? "mixed" : "telephones";
}

/** A print as bytes: magic, then for each vector signed 16-bit numbers, its largest 32,767. */
export function encodePrint({ narrow, wide }: VoicePrint): Uint8Array {
  const vectors = wide === undefined ? [narrow] : [narrow, wide];
  const bytes = Buffer.alloc(HEAD + BYTES * narrow.length * vectors.length);
  bytes.writeUInt32LE(MAGIC, 0);
  let at = HEAD;
  for (const vector of vectors) {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    for (const value of vector) {
      at = bytes.writeInt16LE(Math.round((MOST_STEPS * value) / largest), at);
    }
  }
  return bytes;
}

/** Undefined for bytes that neither `encodePrint` of this version nor that before has written. */
export function decodePrint(print: Uint8Array, size: number): VoicePrint | undefined {
  const bytes = Buffer.from(print.buffer, print.byteOffset, print.byteLength);
  const count = (bytes.length - HEAD) / (BYTES * size);
  if (count !== 1 && count !== 2) return undefined;
  const vectors = Array.from({ length: count }, (_, n) =>
    vectorAt(bytes, HEAD + BYTES * size * n, size),
  );
  const [narrow, wide] = vectors;
  if (narrow === undefined) return undefined;
  const magic = bytes.readUInt32LE(0);
  if (magic === MAGIC) return { narrow, wide };
  // Its line is not known: on one of the other kind its cosines are too small to name anybody.
  if (magic !== MAGIC_OF_ONE || count !== 1) return undefined;
  return { narrow, wide: narrow, isOfOne: true };
}

function vectorAt(bytes: Buffer, at: number, size: number): Float32Array {
  return toUnitLength(
    Float32Array.from({ length: size }, (_, n) => bytes.readInt16LE(at + BYTES * n)),
  );
}
