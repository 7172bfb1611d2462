import koffi from "koffi";
import { AppError } from "../../../src/base/errors.ts";
import type { NativeLibrary, NativePointer } from "./native-library.ts";

/** Cepstral coefficients of a frame (`-ceplen`). */
const COEFFICIENTS = 13;

/**
 * The mean cepstrum of some audio, by a front end of its own with the decoder's settings: what
 * `-cmn batch` would subtract. Undefined when the audio has no frame with energy.
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
      // The rows lie one after the other behind the first row's pointer.
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
    // The engine's own mean leaves frames without energy out as well.
    if ((row[0] ?? -1) < 0) continue;
    counted += 1;
    for (const [index, value] of row.entries()) sum[index] = (sum[index] ?? 0) + value;
  }
  return counted === 0 ? undefined : Float32Array.from(sum, (value) => value / counted);
}
