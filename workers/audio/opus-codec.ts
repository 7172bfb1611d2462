import {
  isOpusPacket,
  OPUS_PRE_ROLL,
  opusPacketSamples,
} from "../../src/base/audio/opus-packets.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import {
  compileOpus,
  interleave,
  LONGEST_PACKET_BYTES,
  LONGEST_PACKET_SAMPLES,
  type Opus,
} from "../../src/base/codecs/opus-decoder.ts";

/**
 * The Opus decoder of one thread, shared by its sessions.
 *
 * The package can only create decoders asynchronously, and cannot reset one synchronously. So there
 * is one decoder, and each stream keeps a copy of its memory (`OpusState`), which is restored
 * before the stream's next packet: 41 kB, which takes some microseconds. The memory contains no
 * pointer that could move.
 */
export class OpusCodec {
  /** Interleaved channels of the samples that it returns. */
  readonly channels: 1 | 2;
  readonly #opus: Opus;
  readonly #decoder: number;
  readonly #packet: number;
  readonly #output: number;
  readonly #from: number;
  readonly #initial: Uint8Array;

  /**
   * Loads the codec for one channel, to which libopus itself mixes two, or for two; the decoder is
   * compiled on first use in a thread.
   */
  static load(channels: 1 | 2 = 1): Promise<OpusCodec> {
    const loaded = shared.get(channels) ?? create(channels);
    shared.set(channels, loaded);
    return loaded;
  }

  constructor(opus: Opus, channels: 1 | 2 = 1) {
    this.channels = channels;
    this.#opus = opus;
    this.#packet = opus.malloc(LONGEST_PACKET_BYTES);
    this.#output = opus.malloc(channels * LONGEST_PACKET_SAMPLES * Float32Array.BYTES_PER_ELEMENT);
    const mapping = opus.malloc(channels);
    for (let channel = 0; channel < channels; channel++)
      this.#memory()[mapping + channel] = channel;
    // All memory that the decoder allocates lies between these two addresses.
    this.#from = opus.malloc(1);
    this.#decoder = opus.opus_frame_decoder_create(
      SESSION_RATE,
      channels,
      1,
      channels - 1,
      mapping,
      0,
      0,
    );
    const to = opus.malloc(1);
    if (!(this.#from < this.#decoder && this.#decoder < to)) {
      throw new Error("the memory of the Opus decoder is not where it was asked for");
    }
    this.#initial = this.#memory().slice(this.#from, to);
  }

  /** The state of a new stream. */
  initialState(): Uint8Array {
    return this.#initial.slice();
  }

  /**
   * Decodes the stream's next packet to 16 kHz; the number of samples follows from its stated
   * duration. Returns silence when it cannot be decoded; then `state` stays as it was.
   */
  decode(state: Uint8Array, packet: Uint8Array): Int16Array {
    const { channels } = this;
    const length = opusPacketSamples(packet, SESSION_RATE);
    const samples = new Int16Array(channels * length);
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
    const decoded = new Float32Array(this.#opus.HEAP, this.#output, channels * count);
    interleave(decoded, samples, channels);
    return samples;
  }

  #memory(): Uint8Array {
    return new Uint8Array(this.#opus.HEAP);
  }
}

const shared = new Map<1 | 2, Promise<OpusCodec>>();

async function create(channels: 1 | 2): Promise<OpusCodec> {
  return new OpusCodec(await compileOpus(channels), channels);
}

/**
 * The Opus packets of one session.
 *
 * At the start of a stored chunk the decoder is reset and decodes the last packets before it, from as
 * many chunks as that takes, whose samples are dropped. So a chunk's samples depend only on it and
 * `OPUS_PRE_ROLL` before it, and are the same when a resumed reading begins there.
 */
export class OpusStream {
  readonly #codec: OpusCodec;
  #state: Uint8Array;
  #sequence: number | undefined;
  /** The last packets of unbroken audio: as many as the decoder needs before the next chunk. */
  #newest: Uint8Array[] = [];

  constructor(codec: OpusCodec) {
    this.#codec = codec;
    this.#state = codec.initialState();
  }

  /** Interleaved channels of its samples. */
  get channels(): number {
    return this.#codec.channels;
  }

  /**
   * Prepares for a chunk or a fragment of one; `continues` when it follows the previous one directly.
   */
  follow(sequence: number, continues: boolean): void {
    if (continues && sequence === this.#sequence) return;
    if (!continues) this.#newest = [];
    this.#sequence = sequence;
    this.#state = this.#codec.initialState();
    for (const packet of this.#newest) this.#codec.decode(this.#state, packet);
  }

  decode(packet: Uint8Array): Int16Array {
    this.#newest.push(packet.slice());
    while (lasting(this.#newest.slice(1)) >= OPUS_PRE_ROLL) this.#newest.shift();
    return this.#codec.decode(this.#state, packet);
  }
}

function lasting(packets: readonly Uint8Array[]): number {
  return packets.reduce((total, packet) => total + opusPacketSamples(packet, SESSION_RATE), 0);
}
