import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { ACTIVITY_FRAME, SpeechActivity } from "../audio/speech-activity.ts";
import { LEAST_EMBEDDED } from "../inference/voice-shapes.ts";
import { cosine, toUnitLength } from "./spectral-clustering.ts";
import type { VoiceAnalysis } from "./voice-analysis.ts";

/** Version of the method: prints of different versions cannot be compared. */
export const PRINT_METHOD = "campplus-1";

const SPEECH = 0.5;
/** Speech that is embedded in one piece, 3 s, in samples. */
const PIECE = 3 * SESSION_RATE;
/** At most so many pieces, spread over the speech. */
const MOST_PIECES = 20;
/** Frames analysed between two steps: some milliseconds of work. */
const STEP = 16;
/**
 * The logarithm of the likelihood ratio is taken for a straight line of the cosine. Both numbers were
 * chosen by hand, so that of eight people no stranger is named on one telephone line, where voices are
 * most alike (`npm run eval:voices`): they are no estimate, and say too little across rooms and lines.
 */
const CALIBRATION = { constant: -10.2, weight: 20 };
const MAGIC = 0x32_50_56;
const HEAD = 4;
const MOST_STEPS = 32_767;

/** A voice in numbers, of unit length. */
export type VoicePrint = Float32Array;

/** A print and the speech that it was made of. */
interface MadePrint {
  print: VoicePrint;
  speechMs: number;
}

/**
 * Makes the print of a voice from samples at 16 kHz, mono: the mean of the vectors of its speech.
 * Yields between steps of milliseconds, and promises while the networks work. Throws AppError
 * `unavailable` when they fail.
 */
export function* makePrint(
  pcm: Int16Array,
  analysis: VoiceAnalysis,
): Generator<Promise<unknown> | undefined, MadePrint> {
  const speech = yield* speechOf(pcm);
  const speechMs = Math.round((speech.length * 1_000) / SESSION_RATE);
  const count = Math.max(1, Math.min(MOST_PIECES, Math.floor(speech.length / PIECE)));
  const sum = new Float32Array(analysis.vectorSize);
  for (let n = 0; n < count; n++) {
    const from = Math.floor((n * Math.max(0, speech.length - PIECE)) / Math.max(1, count - 1));
    const piece = speech.slice(from, from + PIECE);
    if (piece.length < LEAST_EMBEDDED) break;
    const pending = analysis.embed(piece);
    yield pending.settled;
    for (const [at, value] of (pending.numbers ?? []).entries()) sum[at] = (sum[at] ?? 0) + value;
  }
  return { print: toUnitLength(sum), speechMs };
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

/** Natural logarithm of how much likelier one voice is than two. */
export function logLikelihoodRatio(a: VoicePrint, b: VoicePrint): number {
  return CALIBRATION.constant + CALIBRATION.weight * cosine(a, b);
}

/** A print as bytes: magic, then signed 16-bit numbers, the largest 32,767. */
export function encodePrint(print: VoicePrint): Uint8Array {
  const largest = print.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const bytes = Buffer.alloc(HEAD + 2 * print.length);
  bytes.writeUInt32LE(MAGIC, 0);
  for (const [n, value] of print.entries()) {
    bytes.writeInt16LE(Math.round((MOST_STEPS * value) / largest), HEAD + 2 * n);
  }
  return bytes;
}

/** Undefined for bytes that `encodePrint` of this version has not written. */
export function decodePrint(print: Uint8Array, size: number): VoicePrint | undefined {
  const bytes = Buffer.from(print.buffer, print.byteOffset, print.byteLength);
  if (bytes.length !== HEAD + 2 * size || bytes.readUInt32LE(0) !== MAGIC) return undefined;
  return toUnitLength(
    Float32Array.from({ length: size }, (_, n) => bytes.readInt16LE(HEAD + 2 * n)),
  );
}
