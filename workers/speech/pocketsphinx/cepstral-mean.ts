import koffi from "koffi";
import { AppError } from "../../../src/base/errors.ts";
import type { NativeLibrary, NativePointer } from "./native-library.ts";

// `feat_t` and `cmn_t` are public in sphinxbase's headers (sphinxbase/feat.h, sphinxbase/cmn.h);
// only members up to `cmn_struct` are needed.
const FEATURES = koffi.struct({
  refcount: "int",
  name: "void *",
  cepsize: "int32_t",
  nStream: "int32_t",
  streamLen: "void *",
  windowSize: "int32_t",
  nSv: "int32_t",
  svLen: "void *",
  subvecs: "void *",
  svBuf: "void *",
  svDim: "int32_t",
  cmn: "int",
  varnorm: "int32_t",
  agc: "int",
  computeFeat: "void *",
  cmnStruct: "void *",
});
const MEAN = koffi.struct({
  mean: "void *",
  variance: "void *",
  sum: "void *",
  frames: "int32_t",
  length: "int32_t",
});

interface Located {
  record: NativePointer;
  mean: NativePointer;
  sum: NativePointer;
  frames: number;
  length: number;
}

const FRAMES_OFFSET = 3 * koffi.sizeof("void *");

/**
 * Reads the running cepstral mean of a decoder (`cmn_t`), which the engine adapts from one
 * utterance to the next. As bytes: frame count (int32), then mean and sum (float32 each, little
 * endian).
 */
export function readCepstralMean(features: NativePointer): Uint8Array {
  const at = locate(features);
  const bytes = Buffer.alloc(4 + 8 * at.length);
  bytes.writeInt32LE(at.frames, 0);
  const values = [...readFloats(at.mean, at.length), ...readFloats(at.sum, at.length)];
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, 4 + 4 * index);
  return bytes;
}

/** Restores the output of `readCepstralMean`. Throws RangeError for another length. */
export function writeCepstralMean(features: NativePointer, state: Uint8Array): void {
  const at = locate(features);
  if (state.byteLength !== 4 + 8 * at.length) {
    throw new RangeError(`cepstral mean of ${state.byteLength} bytes does not fit this model`);
  }
  const bytes = Buffer.from(state.buffer, state.byteOffset, state.byteLength);
  const floats = Float32Array.from({ length: 2 * at.length }, (_, index) =>
    bytes.readFloatLE(4 + 4 * index),
  );
  koffi.encode(at.mean, "float", floats.subarray(0, at.length), at.length);
  koffi.encode(at.sum, "float", floats.subarray(at.length), at.length);
  koffi.encode(at.record, FRAMES_OFFSET, "int32_t", bytes.readInt32LE(0));
}

/** True once the engine has adapted the mean to an utterance. */
export function isAdapted(features: NativePointer): boolean {
  return locate(features).frames > 0;
}

/** Resets the mean to `mean`, as if that came with the model. */
export function startCepstralMean(features: NativePointer, mean: Float32Array): void {
  const at = locate(features);
  if (mean.length !== at.length) throw new RangeError("cepstral mean of another length");
  koffi.encode(at.mean, "float", mean, at.length);
  koffi.encode(at.sum, "float", new Float32Array(at.length), at.length);
  koffi.encode(at.record, FRAMES_OFFSET, "int32_t", 0);
}

function locate(features: NativePointer): Located {
  const record: NativePointer = koffi.decode(features, FEATURES).cmnStruct;
  const { mean, sum, frames, length } = koffi.decode(record, MEAN);
  return { record, mean, sum, frames, length };
}

function readFloats(pointer: NativePointer, length: number): Float32Array {
  return koffi.decode(pointer, "float", length);
}

/** Cepstral coefficients of a frame (`-ceplen`). */
const COEFFICIENTS = 13;

/**
 * Computes the mean cepstrum of some audio, with a separate front end that has the decoder's
 * settings: the value that `-cmn batch` would subtract. Undefined when no frame of the audio has
 * energy.
 */
export class ChannelMean {
  readonly #native: NativeLibrary;
  readonly #frontEnd: NativePointer;

  constructor(native: NativeLibrary, config: NativePointer) {
    this.#native = native;
    this.#frontEnd = native.createFrontEnd(config);
    if (this.#frontEnd === null)
      throw new AppError("unavailable", "no front end from pocketsphinx");
  }

  of(pcm: Int16Array): Float32Array | undefined {
    const rows: [NativePointer] = [null];
    const count = new Int32Array(1);
    this.#native.startFrontEndStream(this.#frontEnd);
    this.#native.startFrontEnd(this.#frontEnd);
    const result = this.#native.cepstra(this.#frontEnd, pcm, pcm.length, rows, count);
    if (result < 0) throw new AppError("internal", "fe_process_utt failed");
    this.#native.endFrontEnd(this.#frontEnd, new Float32Array(COEFFICIENTS), new Int32Array(1));
    const frames = count[0] ?? 0;
    if (frames === 0) return undefined;
    try {
      // The rows are contiguous, starting at the first row's pointer.
      const first: NativePointer = koffi.decode(rows[0], "void *");
      const values: Float32Array = koffi.decode(first, "float", frames * COEFFICIENTS);
      return meanOf(values, frames);
    } finally {
      this.#native.freeCepstra(rows[0]);
    }
  }

  close(): void {
    this.#native.freeFrontEnd(this.#frontEnd);
  }
}

function meanOf(values: Float32Array, frames: number): Float32Array | undefined {
  const sum = new Float64Array(COEFFICIENTS);
  let counted = 0;
  for (let frame = 0; frame < frames; frame++) {
    const row = values.subarray(frame * COEFFICIENTS, (frame + 1) * COEFFICIENTS);
    // The engine's own mean leaves out frames without energy too.
    if ((row[0] ?? -1) < 0) continue;
    counted += 1;
    for (const [index, value] of row.entries()) sum[index] = (sum[index] ?? 0) + value;
  }
  return counted === 0 ? undefined : Float32Array.from(sum, (value) => value / counted);
}
