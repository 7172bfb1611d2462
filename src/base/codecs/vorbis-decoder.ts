import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { toInt16 } from "../audio/pcm-samples.ts";
import type { Decoding } from "./decoding.ts";
import type { VorbisAudio } from "./vorbis.ts";

const loadCommonJs = createRequire(import.meta.url);
const SCRIPT = "ogv/dist/ogv-decoder-audio-vorbis-wasm.js";
const BINARY = "ogv/dist/ogv-decoder-audio-vorbis-wasm.wasm";
/** Memory that a decoder may take; the set-up header of a damaged file may ask for much. */
const MOST_MEMORY = 64 * 1024 * 1024;

/** The decoder of ogv.js (libvorbis, compiled to WebAssembly), as far as it is used here. */
interface OgvVorbis {
  HEAPU8: Uint8Array;
  /** One array for each channel; set by `processAudio`. */
  audioBuffer: Float32Array[] | null;
  loadedMetadata: boolean;
  init(done: () => void): void;
  processHeader(data: ArrayBuffer, done: (isTaken: number) => void): void;
  processAudio(data: ArrayBuffer, done: (isTaken: number) => void): void;
}

interface ModuleOptions extends Partial<OgvVorbis> {
  instantiateWasm(imports: object, done: (instance: WebAssembly.Instance) => object): object;
  quit(code: number, reason: Error): never;
  printErr(text: string): void;
}

interface Library {
  create(options: ModuleOptions): Promise<OgvVorbis>;
  compiled: WebAssembly.Module;
}

let library: Library | undefined;

/** Compiles the decoder on first use in a thread. Must have come before a `VorbisDecoding`. */
export function loadVorbisDecoder(): void {
  library ??= {
    create: loadCommonJs(SCRIPT) as Library["create"],
    compiled: new WebAssembly.Module(readFileSync(loadCommonJs.resolve(BINARY))),
  };
}

/**
 * Decodes a Vorbis stream packet by packet. Each has a memory of its own, so that a damaged file
 * harms no other one.
 */
export class VorbisDecoding implements Decoding {
  readonly #ogv: OgvVorbis;
  readonly #audio: VorbisAudio;
  #next = 0;

  /** Throws RangeError when the headers are refused. */
  constructor(audio: VorbisAudio) {
    if (library === undefined) throw new Error("loadVorbisDecoder() must come first");
    this.#audio = audio;
    this.#ogv = instantiate(library);
    for (const header of audio.headers) {
      let isTaken = 0;
      this.#ogv.processHeader(ownBytes(header), (taken) => {
        isTaken = taken;
      });
      if (isTaken === 0) throw new RangeError("the headers of the Vorbis stream are damaged");
    }
    if (this.#ogv.loadedMetadata !== true || this.#memory > MOST_MEMORY) {
      throw new RangeError("the headers of the Vorbis stream are damaged");
    }
  }

  get #memory(): number {
    return this.#ogv.HEAPU8.byteLength;
  }

  next(): Int16Array | undefined {
    const packet = this.#audio.packets[this.#next];
    if (packet === undefined) return undefined;
    this.#next += 1;
    this.#ogv.audioBuffer = null;
    this.#ogv.processAudio(ownBytes(packet), () => {});
    return interleaved(this.#ogv.audioBuffer ?? [], this.#audio.channels);
  }

  close(): void {
    // Its memory goes with it.
    this.#next = this.#audio.packets.length;
  }
}

/** The module is set up synchronously, as its binary is compiled already. */
function instantiate({ create, compiled }: Library): OgvVorbis {
  const options: ModuleOptions = {
    instantiateWasm: (imports, done) => done(new WebAssembly.Instance(compiled, imports)),
    quit: (_code, reason) => {
      throw reason;
    },
    printErr: () => {},
  };
  void create(options);
  const ogv = options as ModuleOptions & OgvVorbis;
  ogv.init(() => {});
  return ogv;
}

function interleaved(channels: readonly Float32Array[], count: number): Int16Array {
  const length = channels[0]?.length ?? 0;
  const samples = new Int16Array(length * count);
  for (const [channel, values] of channels.slice(0, count).entries()) {
    for (let frame = 0; frame < length; frame += 1) {
      samples[frame * count + channel] = toInt16((values[frame] ?? 0) * 32_768);
    }
  }
  return samples;
}

function ownBytes(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
