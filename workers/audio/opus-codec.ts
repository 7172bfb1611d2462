import { OpusDecoder } from "opus-decoder";
import { isOpusPacket, opusPacketSamples } from "../../src/base/audio/opus-packets.ts";
import { toInt16 } from "../../src/base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";

/** More than any packet that is worth decoding: six times 120 ms at the highest bit rate. */
const LONGEST_PACKET_BYTES = 48 * 1024;
/** 120 ms at 16 kHz. */
const LONGEST_PACKET_SAMPLES = 1_920;
/** One channel: libopus mixes two down by itself. */
const CHANNELS = 1;

/** What is used of libopus as the package compiled it to WebAssembly. */
interface OpusModule {
  readonly HEAP: ArrayBuffer;
  malloc(bytes: number): number;
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
}

/**
 * The Opus decoder of one thread, shared by its sessions.
 *
 * The package can only make decoders, asynchronously, and never sets one back at once. So there
 * is one, and each stream keeps that decoder's memory (`OpusState`), which is put back before
 * its next packet: 41 kB, some microseconds. The memory holds no pointer that could move.
 */
export class OpusCodec {
  readonly #opus: OpusModule;
  readonly #decoder: number;
  readonly #packet: number;
  readonly #output: number;
  readonly #from: number;
  readonly #initial: Uint8Array;

  /** Compiles the decoder on first use in a thread. */
  static load(): Promise<OpusCodec> {
    shared ??= create();
    return shared;
  }

  constructor(opus: OpusModule) {
    this.#opus = opus;
    this.#packet = opus.malloc(LONGEST_PACKET_BYTES);
    this.#output = opus.malloc(LONGEST_PACKET_SAMPLES * Float32Array.BYTES_PER_ELEMENT);
    const mapping = opus.malloc(CHANNELS);
    this.#memory()[mapping] = 0;
    // All that the decoder takes lies between these two.
    this.#from = opus.malloc(1);
    this.#decoder = opus.opus_frame_decoder_create(SESSION_RATE, CHANNELS, 1, 0, mapping, 0, 0);
    const to = opus.malloc(1);
    if (!(this.#from < this.#decoder && this.#decoder < to)) {
      throw new Error("the memory of the Opus decoder is not where it was asked for");
    }
    this.#initial = this.#memory().slice(this.#from, to);
  }

  /** The state of a stream that begins. */
  initialState(): Uint8Array {
    return this.#initial.slice();
  }

  /**
   * The samples of the stream's next packet, as many as it says that it lasts: 16 kHz, mono.
   * Silence when it cannot be decoded, and then `state` stays as it was.
   */
  decode(state: Uint8Array, packet: Uint8Array): Int16Array {
    const samples = new Int16Array(opusPacketSamples(packet, SESSION_RATE));
    if (!isOpusPacket(packet) || packet.byteLength > LONGEST_PACKET_BYTES) return samples;
    const memory = this.#memory();
    memory.set(state, this.#from);
    memory.set(packet, this.#packet);
    const count = this.#opus.opus_frame_decode_float_deinterleaved(
      this.#decoder,
      this.#packet,
      packet.byteLength,
      this.#output,
    );
    if (count <= 0) return samples;
    state.set(this.#memory().subarray(this.#from, this.#from + state.byteLength));
    const decoded = new Float32Array(
      this.#opus.HEAP,
      this.#output,
      Math.min(count, samples.length),
    );
    for (const [index, value] of decoded.entries()) samples[index] = toInt16(value * 32_768);
    return samples;
  }

  #memory(): Uint8Array {
    return new Uint8Array(this.#opus.HEAP);
  }
}

let shared: Promise<OpusCodec> | undefined;

async function create(): Promise<OpusCodec> {
  const decoder = new OpusDecoder({ sampleRate: SESSION_RATE, channels: CHANNELS });
  await decoder.ready;
  // The package's own methods print what cannot be decoded to the console; beneath them nothing does.
  const { _common: common } = decoder as unknown as { _common: { wasm: OpusModule } };
  return new OpusCodec(common.wasm);
}

/**
 * What a decoder hears before the first sample that counts. RFC 7845 (4.6) asks for 80 ms at
 * least; on voiced speech that leaves an error that four times as much does not.
 */
const PRE_ROLL_SAMPLES = 0.32 * SESSION_RATE;

/**
 * The Opus packets of one session.
 *
 * At the start of a stored chunk the decoder begins afresh and hears the last packets of the
 * chunk before, whose sound is dropped. So a chunk's samples depend on it and the chunk before
 * alone, and are the same when a resumed reading begins there.
 */
export class OpusStream {
  readonly #codec: OpusCodec;
  #state: Uint8Array;
  #sequence: number | undefined;
  #newest: Uint8Array[] = [];

  constructor(codec: OpusCodec) {
    this.#codec = codec;
    this.#state = codec.initialState();
  }

  /** A chunk, or a piece of one, comes next; `continues` when it follows what came before it. */
  follow(sequence: number, continues: boolean): void {
    if (continues && sequence === this.#sequence) return;
    const heard = continues ? this.#newest : [];
    this.#sequence = sequence;
    this.#newest = [];
    this.#state = this.#codec.initialState();
    for (const packet of heard) this.#codec.decode(this.#state, packet);
  }

  /** The samples of the next packet. */
  decode(packet: Uint8Array): Int16Array {
    this.#newest.push(packet.slice());
    while (lasting(this.#newest.slice(1)) >= PRE_ROLL_SAMPLES) this.#newest.shift();
    return this.#codec.decode(this.#state, packet);
  }
}

function lasting(packets: readonly Uint8Array[]): number {
  return packets.reduce((total, packet) => total + opusPacketSamples(packet, SESSION_RATE), 0);
}
