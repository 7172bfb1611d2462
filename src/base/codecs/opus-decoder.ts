import { OpusDecoder } from "opus-decoder";
import { isOpusPacket, opusPacketSamples } from "../audio/opus-packets.ts";
import { toInt16 } from "../audio/pcm-samples.ts";
import { SESSION_RATE } from "../audio/sample-rate.ts";
import type { Decoding } from "./decoding.ts";
import type { OpusHead } from "./opus-head.ts";

/** The parts of libopus, as the package compiled it to WebAssembly, that are used here. */
export interface Opus {
  readonly HEAP: ArrayBuffer;
  malloc(bytes: number): number;
  free(pointer: number): void;
  opus_frame_decoder_create(
    rate: number,
    channels: number,
    streams: number,
    coupled: number,
    mapping: number,
    preSkip: number,
    forceStereo: number,
  ): number;
  opus_frame_decode_float_deinterleaved(
    decoder: number,
    packet: number,
    length: number,
    output: number,
  ): number;
  opus_frame_decoder_destroy(decoder: number): void;
}

/** Longest packet that is decoded: several streams, or six times 120 ms, at the highest bit rate. */
export const LONGEST_PACKET_BYTES = 48 * 1024;
/** 120 ms at 16 kHz. */
export const LONGEST_PACKET_SAMPLES = 1_920;
/** Where the package's record of a decoder points to its samples and to libopus' state, in words. */
const SAMPLES_WORD = 5;
const STATE_WORD = 7;

let loaded: Promise<void> | undefined;
let opus: Opus | undefined;

/** Compiles the decoder on first use in a thread. Must have resolved before an `OpusDecoding`. */
export function loadOpusDecoder(): Promise<void> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<void> {
  opus = await compileOpus(1);
}

/** Libopus in memory of its own, for streams of so many channels. */
export async function compileOpus(channels: 1 | 2): Promise<Opus> {
  const decoder = new OpusDecoder({ sampleRate: SESSION_RATE, channels });
  await decoder.ready;
  // The package creates decoders only asynchronously, and prints errors to the console; the
  // functions below it do neither.
  const { _common: common } = decoder as unknown as { _common: { wasm: Opus } };
  return common.wasm;
}

/** Interleaves what libopus decoded, where samples of one channel come after those of the other. */
export function interleave(decoded: Float32Array, samples: Int16Array, channels: number): void {
  const count = decoded.length / channels;
  const frames = Math.min(count, samples.length / channels);
  for (let frame = 0; frame < frames; frame += 1) {
    for (let channel = 0; channel < channels; channel += 1) {
      const value = decoded[channel * count + frame] ?? 0;
      samples[frame * channels + channel] = toInt16(value * 32_768);
    }
  }
}

/**
 * Decodes packets of one to eight channels to 16 kHz. Each takes the time that it states; one that
 * cannot be decoded becomes silence.
 */
export class OpusDecoding implements Decoding {
  readonly #opus: Opus;
  readonly #channels: number;
  readonly #packets: readonly Uint8Array[];
  readonly #memory: { packet: number; output: number; mapping: number };
  readonly #decoder: number;
  #next = 0;
  #closed = false;

  constructor(head: OpusHead, packets: readonly Uint8Array[]) {
    if (opus === undefined) throw new Error("loadOpusDecoder() must come first");
    const { channels, streams, coupled, mapping } = head;
    this.#opus = opus;
    this.#channels = channels;
    this.#packets = packets;
    const floats = channels * LONGEST_PACKET_SAMPLES;
    this.#memory = {
      packet: opus.malloc(LONGEST_PACKET_BYTES),
      output: opus.malloc(floats * Float32Array.BYTES_PER_ELEMENT),
      mapping: opus.malloc(channels),
    };
    new Uint8Array(opus.HEAP).set(mapping, this.#memory.mapping);
    const place = this.#memory.mapping;
    this.#decoder = opus.opus_frame_decoder_create(
      SESSION_RATE,
      channels,
      streams,
      coupled,
      place,
      0,
      0,
    );
    if (this.#decoder === 0 || this.#pointer(STATE_WORD) === 0) {
      throw new Error("no memory for an Opus decoder");
    }
  }

  next(): Int16Array | undefined {
    const packet = this.#packets[this.#next];
    if (packet === undefined) return undefined;
    this.#next += 1;
    return this.#decode(packet);
  }

  #decode(packet: Uint8Array): Int16Array {
    const channels = this.#channels;
    const length = opusPacketSamples(packet, SESSION_RATE);
    const samples = new Int16Array(length * channels);
    // The rules are those of a packet with one stream; libopus checks all others itself.
    if (channels <= 2 && !isOpusPacket(packet)) return samples;
    if (packet.byteLength > LONGEST_PACKET_BYTES) return samples;
    const { packet: input, output } = this.#memory;
    new Uint8Array(this.#opus.HEAP).set(packet, input);
    const count = this.#opus.opus_frame_decode_float_deinterleaved(
      this.#decoder,
      input,
      packet.byteLength,
      output,
    );
    if (count <= 0) return samples;
    const decoded = new Float32Array(this.#opus.HEAP, output, channels * count);
    interleave(decoded, samples, channels);
    return samples;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // The package leaves this one behind.
    const samples = this.#pointer(SAMPLES_WORD);
    this.#opus.opus_frame_decoder_destroy(this.#decoder);
    const { packet, output, mapping } = this.#memory;
    for (const pointer of [samples, packet, output, mapping]) this.#opus.free(pointer);
  }

  /** A word of the decoder's record. */
  #pointer(word: number): number {
    return new Uint32Array(this.#opus.HEAP, this.#decoder, word + 1)[word] ?? 0;
  }
}
