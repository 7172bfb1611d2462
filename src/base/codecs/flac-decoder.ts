import { createRequire } from "node:module";
import type * as libflac from "libflacjs/dist/index.js";
import type { Decoding } from "./decoding.ts";
import type { FlacAudio } from "./flac.ts";

// The package is CommonJS, and its main file would change the environment of the process.
const loadCommonJs = createRequire(import.meta.url);

/** The parts of libFLAC, as the package compiled it to JavaScript, that are used here. */
type Flac = Pick<
  typeof libflac,
  | "create_libflac_decoder"
  | "init_decoder_stream"
  | "FLAC__stream_decoder_process_single"
  | "FLAC__stream_decoder_get_state"
  | "FLAC__stream_decoder_finish"
  | "FLAC__stream_decoder_delete"
>;

/** FLAC__STREAM_DECODER_END_OF_STREAM; all higher states are errors. */
const AT_END = 4;
/** Most calls for one frame: each error of a damaged file takes one. */
const MOST_STEPS = 1_000;

const SCRIPT = "libflacjs/dist/libflac.js";

let flac: Flac | undefined;

/** Loads the decoder on first use in a thread. Must have come before a `FlacDecoding`. */
export function loadFlacDecoder(): void {
  if (flac !== undefined) return;
  const names = ["uncaughtException", "unhandledRejection"] as const;
  const before = names.map((name) => process.rawListeners(name));
  flac = loadCommonJs(SCRIPT) as Flac;
  // The loader of compiled code installs listeners that end the process in their own way.
  for (const [index, name] of names.entries()) {
    for (const listener of process.rawListeners(name)) {
      if (before[index]?.includes(listener)) continue;
      process.removeListener(name, listener as (...values: unknown[]) => void);
    }
  }
}

function loadAnew(): void {
  flac = undefined;
  delete loadCommonJs.cache[loadCommonJs.resolve(SCRIPT)];
  loadFlacDecoder();
}

/** Decodes a FLAC file frame by frame; of its metadata only STREAMINFO is given to the library. */
export class FlacDecoding implements Decoding {
  readonly #flac: Flac;
  readonly #decoder: number;
  readonly #audio: FlacAudio;
  readonly #bytes: Uint8Array;
  #headAt = 0;
  #at: number;
  #samples: Int16Array | undefined;
  #failed = false;
  #closed = false;

  constructor(audio: FlacAudio, bytes: Uint8Array) {
    if (flac === undefined) throw new Error("loadFlacDecoder() must come first");
    this.#flac = flac;
    this.#audio = audio;
    this.#bytes = bytes;
    this.#at = audio.audio;
    this.#decoder = flac.create_libflac_decoder(false);
    if (this.#decoder === 0) throw new Error("no memory for a FLAC decoder");
    const failed = flac.init_decoder_stream(
      this.#decoder,
      (length) => this.#read(length),
      (channels, { bitsPerSample, blocksize }) => {
        this.#samples =
          bitsPerSample === audio.bitsPerSample
            ? this.#toSamples(channels)
            : new Int16Array(blocksize * audio.channels);
      },
      () => {},
      () => {},
    );
    if (failed !== 0) throw new Error(`the FLAC decoder does not start: ${failed}`);
  }

  next(): Int16Array | undefined {
    this.#samples = undefined;
    for (let step = 0; step < MOST_STEPS && this.#samples === undefined; step += 1) {
      if (!this.#step()) break;
    }
    return this.#samples;
  }

  /** False at the end of the file, and after an error that ends it. */
  #step(): boolean {
    if (this.#failed) return false;
    try {
      const went = this.#flac.FLAC__stream_decoder_process_single(this.#decoder);
      return went && this.#flac.FLAC__stream_decoder_get_state(this.#decoder) < AT_END;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // The package's own code failed at a frame of another width, inside of compiled code that did
      // not clear its stack: who comes next gets the library anew.
      this.#failed = true;
      if (flac === this.#flac) loadAnew();
      return false;
    }
  }

  #read(length: number): libflac.ReadResult {
    const part =
      this.#headAt < this.#audio.head.byteLength
        ? this.#audio.head.subarray(this.#headAt, this.#headAt + length)
        : this.#bytes.subarray(this.#at, this.#at + length);
    if (this.#headAt < this.#audio.head.byteLength) this.#headAt += part.byteLength;
    else this.#at += part.byteLength;
    return { buffer: new Uint8Array(part), readDataLength: part.byteLength, error: false };
  }

  /**
   * One frame: of each channel its samples, little endian, of 16 bits; those of 24 bits come in 32.
   * The package damages other widths.
   */
  #toSamples(channels: readonly Uint8Array[]): Int16Array {
    const { bitsPerSample, channels: wanted } = this.#audio;
    const width = bitsPerSample === 24 ? 4 : 2;
    const count = Math.floor((channels[0]?.byteLength ?? 0) / width);
    const samples = new Int16Array(count * wanted);
    for (const [channel, bytes] of channels.slice(0, wanted).entries()) {
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let frame = 0; frame < count; frame += 1) {
        const value = data.readIntLE(frame * width, width);
        samples[frame * wanted + channel] = value >> (bitsPerSample - 16);
      }
    }
    return samples;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#flac.FLAC__stream_decoder_finish(this.#decoder);
    this.#flac.FLAC__stream_decoder_delete(this.#decoder);
  }
}
