import { opusPacketSamples } from "../../src/base/audio/opus-packets.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { OpusCodec } from "./opus-codec.ts";

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
