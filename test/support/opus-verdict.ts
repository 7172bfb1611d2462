import { OpusDecoder } from "opus-decoder";

/** More than any packet of these tests. */
const PACKET_BYTES = 65_536;
const OUTPUT_BYTES = 1_920 * 4;

interface OpusModule {
  HEAP: ArrayBuffer;
  malloc(bytes: number): number;
  opus_frame_decoder_create(...settings: number[]): number;
  opus_frame_decode_float_deinterleaved(
    decoder: number,
    packet: number,
    length: number,
    output: number,
  ): number;
}

/** What libopus itself says of a packet. */
export class OpusVerdict {
  readonly #opus: OpusModule;
  readonly #decoder: number;
  readonly #packet: number;
  readonly #output: number;

  static async load(): Promise<OpusVerdict> {
    const decoder = new OpusDecoder({ sampleRate: 16_000, channels: 1 });
    await decoder.ready;
    const { _common: common } = decoder as unknown as { _common: { wasm: OpusModule } };
    return new OpusVerdict(common.wasm);
  }

  private constructor(opus: OpusModule) {
    this.#opus = opus;
    this.#packet = opus.malloc(PACKET_BYTES);
    this.#output = opus.malloc(OUTPUT_BYTES);
    const mapping = opus.malloc(1);
    new Uint8Array(opus.HEAP)[mapping] = 0;
    this.#decoder = opus.opus_frame_decoder_create(16_000, 1, 1, 0, mapping, 0, 0);
  }

  /** Nothing at all is a loss to libopus, not a packet. */
  decodes(packet: Uint8Array): boolean {
    if (packet.byteLength === 0) return false;
    new Uint8Array(this.#opus.HEAP).set(packet, this.#packet);
    const samples = this.#opus.opus_frame_decode_float_deinterleaved(
      this.#decoder,
      this.#packet,
      packet.byteLength,
      this.#output,
    );
    return samples > 0;
  }
}
