import { readFileSync } from "node:fs";
import type { Gaussians } from "./gaussians.ts";
import { FRAME_SIZE } from "./voice-frames.ts";

/**
 * What voices are told apart by, estimated by `npm run eval:voices -- --train`; `voice-model.md` names
 * the recordings that it was estimated from, and their licences.
 */
export interface VoiceModel {
  background: Gaussians;
  /** Mean of the cohort's offsets from the background, before they get unit length. */
  centre: Float32Array;
  /** Mean of the cohort's prints. */
  cohortMean: Float32Array;
  /** Main axes of the cohort's prints about their mean, each as long as their deviation along it. */
  cohortAxes: Float32Array[];
  /** Logarithm of the likelihood ratio of a score: constant + weight x score. */
  calibration: { constant: number; weight: number };
}

const FILE = new URL("./voice-model.bin", import.meta.url);
const MAGIC = 0x31_4d_4f_56;
const BYTE = 127;

/**
 * The model as bytes, little endian: magic, number of Gaussians, of axes; the calibration; weights,
 * means, variances, centre and the cohort's mean as 32-bit floats; each axis as a 32-bit scale and
 * signed bytes.
 */
export function encodeModel(model: VoiceModel): Buffer {
  const { background, centre, cohortMean, cohortAxes, calibration } = model;
  const head = Buffer.alloc(12);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(background.count, 4);
  head.writeUInt32LE(cohortAxes.length, 8);
  const { constant, weight } = calibration;
  const { logWeights, means, variances } = background;
  const floats = [[constant, weight], logWeights, means, variances, centre, cohortMean];
  return Buffer.concat([
    head,
    ...floats.map((values) => Buffer.from(Float32Array.from(values).buffer)),
    ...cohortAxes.flatMap((axis) => {
      const scale = axis.reduce((most, each) => Math.max(most, Math.abs(each)), 0) / BYTE;
      const bytes = Int8Array.from(axis, (each) => Math.round(each / scale));
      return [Buffer.from(Float32Array.of(scale).buffer), Buffer.from(bytes.buffer)];
    }),
  ]);
}

/** Throws for bytes that `encodeModel` has not written. */
function decodeModel(file: Buffer): VoiceModel {
  let at = 12;
  const floats = (count: number): Float32Array => {
    const values = Float32Array.from({ length: count }, (_, n) => file.readFloatLE(at + 4 * n));
    at += 4 * count;
    return values;
  };
  if (file.readUInt32LE(0) !== MAGIC) throw new Error("no model of voices");
  const count = file.readUInt32LE(4);
  const [constant = 0, weight = 0] = floats(2);
  const size = count * FRAME_SIZE;
  const background = {
    count,
    logWeights: floats(count),
    means: floats(size),
    variances: floats(size),
  };
  const centre = floats(size);
  const cohortMean = floats(size);
  const cohortAxes = Array.from({ length: file.readUInt32LE(8) }, () => {
    const [scale = 0] = floats(1);
    const axis = Float32Array.from({ length: size }, (_, n) => scale * file.readInt8(at + n));
    at += size;
    return axis;
  });
  return { background, centre, cohortMean, cohortAxes, calibration: { constant, weight } };
}

let shipped: VoiceModel | undefined;

/** The model that is shipped, read at first use. */
export function voiceModel(): VoiceModel {
  shipped ??= decodeModel(readFileSync(FILE));
  return shipped;
}
