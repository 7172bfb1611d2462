import { MPEGDecoder } from "mpg123-decoder";
import { toInt16 } from "../audio/pcm-samples.ts";
import type { Decoding } from "./decoding.ts";
import type { MpegAudio } from "./mpeg.ts";

/** The parts of mpg123, as the package compiled it to WebAssembly, that are used here. */
interface Mpg123 {
  readonly HEAP: ArrayBuffer;
  malloc(bytes: number): number;
  free(pointer: number): void;
  mpeg_frame_decoder_create(decoder: number, gapless: number): number;
  mpeg_frame_decoder_destroy(decoder: number): void;
  mpeg_decoder_feed(decoder: number, bytes: number, length: number): number;
  mpeg_decoder_read(
    decoder: number,
    output: number,
    length: number,
    samples: number,
    rate: number,
    error: number,
  ): number;
}

/** Longer than any frame. */
const INPUT_BYTES = 4 * 1024;
/** Samples of one channel in the output: several frames. */
const OUTPUT_SAMPLES = 8 * 1152;
const CHANNELS = 2;
/** MPG123_NEW_FORMAT: not an error. */
const NEW_FORMAT = -11;
/** Most calls for the samples of one frame. */
const MOST_READS = 8;

/** Decoders that fit into the memory of one module, which does not grow. */
const FIT = 24;

interface Module {
  wasm: Mpg123;
  /** Open decoders. */
  open: number;
}

const modules: Module[] = [];
let loading: Promise<void> | undefined;

/** Compiles the decoder on first use in a thread. Must have resolved before an `MpegDecoding`. */
export async function loadMp3Decoder(): Promise<void> {
  if (modules.length === 0) await addModule();
}

function addModule(): Promise<void> {
  loading ??= load().finally(() => {
    loading = undefined;
  });
  return loading;
}

async function load(): Promise<void> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  // The package creates decoders only asynchronously, and prints errors to the console; the
  // functions below it do neither.
  const { _common: common } = decoder as unknown as { _common: { wasm: Mpg123 } };
  modules.push({ wasm: common.wasm, open: 0 });
}

/** A module with room; another one is loaded before the last room is taken. */
function roomyModule(): Module {
  const module = modules.find(({ open }) => open < FIT);
  if (module === undefined) throw new Error("no room for an MP3 decoder");
  const room = modules.reduce((sum, { open }) => sum + FIT - open, 0);
  // Should it fail, the next decoder tries again.
  if (room < FIT / 2) addModule().catch(() => {});
  return module;
}

/**
 * Decodes frames one after the other; a frame that gives no samples becomes silence, so that all
 * others keep their places.
 */
export class MpegDecoding implements Decoding {
  readonly #audio: MpegAudio;
  readonly #bytes: Uint8Array;
  readonly #module: Module;
  readonly #memory: { input: number; output: number; numbers: number };
  readonly #decoder: number;
  #next = 0;
  #closed = false;

  constructor(audio: MpegAudio, bytes: Uint8Array) {
    const module = roomyModule();
    this.#audio = audio;
    this.#bytes = bytes;
    this.#module = module;
    const { wasm } = module;
    const input = wasm.malloc(INPUT_BYTES);
    const output = wasm.malloc(CHANNELS * OUTPUT_SAMPLES * Float32Array.BYTES_PER_ELEMENT);
    const numbers = wasm.malloc(4 * Uint32Array.BYTES_PER_ELEMENT);
    this.#memory = { input, output, numbers };
    const failed = wasm.mpeg_frame_decoder_create(numbers, 0);
    this.#decoder = new Uint32Array(wasm.HEAP, numbers, 1)[0] ?? 0;
    if (failed !== 0 || this.#decoder === 0) throw new Error("no memory for an MP3 decoder");
    module.open += 1;
  }

  next(): Int16Array | undefined {
    const { places } = this.#audio;
    const at = places[this.#next];
    const length = places[this.#next + 1];
    if (at === undefined || length === undefined) return undefined;
    this.#next += 2;
    return this.#decode(this.#bytes.subarray(at, at + length));
  }

  #decode(frame: Uint8Array): Int16Array {
    const { channels } = this.#audio;
    const { input, output, numbers } = this.#memory;
    const { wasm } = this.#module;
    new Uint8Array(wasm.HEAP).set(frame.subarray(0, INPUT_BYTES), input);
    wasm.mpeg_decoder_feed(this.#decoder, input, Math.min(frame.byteLength, INPUT_BYTES));
    const samples = new Int16Array(this.#audio.perFrame * channels);
    let filled = 0;
    for (let reads = 0; reads < MOST_READS && filled < samples.length; reads += 1) {
      const [count, rate, error] = [numbers + 4, numbers + 8, numbers + 12];
      new Uint32Array(wasm.HEAP, count, 1)[0] = 0;
      const floats = CHANNELS * OUTPUT_SAMPLES;
      const told = wasm.mpeg_decoder_read(this.#decoder, output, floats, count, rate, error);
      const given = new Uint32Array(wasm.HEAP, count, 1)[0] ?? 0;
      // Always two channels, one after the other.
      const decoded = new Float32Array(wasm.HEAP, output, CHANNELS * given);
      for (let frame = 0; frame < given; frame += 1) {
        for (let channel = 0; channel < channels; channel += 1, filled += 1) {
          samples[filled] = toInt16((decoded[channel * given + frame] ?? 0) * 32_768);
        }
      }
      if (told !== NEW_FORMAT && given === 0) break;
    }
    return samples;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { wasm } = this.#module;
    this.#module.open -= 1;
    // It also frees the decoder.
    wasm.mpeg_frame_decoder_destroy(this.#decoder);
    const { input, output, numbers } = this.#memory;
    for (const pointer of [input, output, numbers]) wasm.free(pointer);
  }
}
