import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { ACTIVITY_FRAME, SpeechActivity } from "../audio/speech-activity.ts";
import { LEAST_EMBEDDED } from "../inference/voice-shapes.ts";
import { cosine, toUnitLength } from "./spectral-clustering.ts";
import { isNarrow, throughTelephone } from "./telephone-band.ts";
import type { VoiceAnalysis } from "./voice-analysis.ts";

/** Name of the network and version of the method. */
export const PRINT_METHOD = "campplus-2";

const SPEECH = 0.5;
/** Speech that is embedded in one piece, 3 s, in samples. */
const PIECE = 3 * SESSION_RATE;
/** At most so many pieces, spread over the speech. */
const MOST_PIECES = 20;
/** Frames analysed between two steps: some milliseconds of work. */
const STEP = 16;
/**
 * The logarithm of the likelihood ratio is taken for a straight line of the cosine, another one where only what a
 * telephone lets through is compared: there voices are more alike. The first is the mean of what logistic regression
 * finds on each half of seven people (`npm run eval:voices`); the second lies higher than that, so that of two women
 * who sound alike on a telephone none is named for the other.
 */
const WIDE = { constant: -19.6, weight: 39.5 };
const NARROW = { constant: -31.8, weight: 50 };
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
  const speech = yield* speechOf(pcm);
  const speechMs = Math.round((speech.length * 1_000) / SESSION_RATE);
  const pieces = piecesOf(speech);
  // What the networks are given goes to their threads, and is not here any more.
  const heard = yield* meanVector(pieces, analysis, (piece) => piece.slice());
  if (isNarrow(speech)) return { print: { narrow: heard }, speechMs };
  const narrow = yield* meanVector(pieces, analysis, throughTelephone);
  return { print: { narrow, wide: heard }, speechMs };
}

/** At most so much speech as is embedded, spread over all of it. */
function piecesOf(speech: Int16Array): Int16Array[] {
  const count = Math.max(1, Math.min(MOST_PIECES, Math.floor(speech.length / PIECE)));
  return Array.from({ length: count }, (_, n) => {
    const from = Math.floor((n * Math.max(0, speech.length - PIECE)) / Math.max(1, count - 1));
    return speech.slice(from, from + PIECE);
  });
}

function* meanVector(
  pieces: readonly Int16Array[],
  analysis: VoiceAnalysis,
  heard: (piece: Int16Array) => Int16Array,
): Generator<Promise<unknown> | undefined, Float32Array> {
  const sum = new Float32Array(analysis.vectorSize);
  for (const piece of pieces) {
    if (piece.length < LEAST_EMBEDDED) break;
    const pending = analysis.embed(heard(piece));
    yield pending.settled;
    for (const [at, value] of (pending.numbers ?? []).entries()) sum[at] = (sum[at] ?? 0) + value;
  }
  return toUnitLength(sum);
}

/** The speech without its pauses. */
function* speechOf(pcm: Int16Array): Generator<undefined, Int16Array> {
  const activity = new SpeechActivity();
  const speech = new Int16Array(pcm.length);
  let length = 0;
  for (let n = 0; (n + 1) * ACTIVITY_FRAME <= pcm.length; n++) {
    const frame = activity.take(pcm.subarray(n * ACTIVITY_FRAME, (n + 1) * ACTIVITY_FRAME));
    if (frame.probability >= SPEECH) {
      speech.set(frame.pcm, length);
      length += frame.pcm.length;
    }
    if (n % STEP === STEP - 1) yield;
  }
  return speech.subarray(0, length);
}

/** Natural logarithm of how much likelier one voice is than two: by all of it where both have that. */
export function logLikelihoodRatio(a: VoicePrint, b: VoicePrint): number {
  if (a.wide === undefined || b.wide === undefined) return logRatio(NARROW, a.narrow, b.narrow);
  return logRatio(WIDE, a.wide, b.wide);
}

function logRatio({ constant, weight }: typeof WIDE, a: Float32Array, b: Float32Array): number {
  return constant + weight * cosine(a, b);
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
  return magic === MAGIC_OF_ONE && count === 1 ? { narrow, wide: narrow } : undefined;
}

function vectorAt(bytes: Buffer, at: number, size: number): Float32Array {
  return toUnitLength(
    Float32Array.from({ length: size }, (_, n) => bytes.readInt16LE(at + BYTES * n)),
  );
}
