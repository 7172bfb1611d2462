import {
  isOpusPacket,
  joinOpusPackets,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import { isSupportedRate } from "../../base/audio/sample-rate.ts";
import { AppError } from "../../base/errors.ts";
import type { StreamFormat, StreamSettings } from "./stream-records.ts";

/** Whole frames cut from a stream's bytes. */
export interface CutAudio {
  data: Uint8Array;
  frames: number;
  /** Number of the device stream's bytes that are in it. */
  streamBytes: number;
}

/** Cuts a device's stream into fragments of whole frames. */
export interface StreamCutter {
  readonly format: StreamFormat;
  /** Number of bytes that were taken and not cut yet. */
  readonly buffered: number;
  /**
   * Takes one message; its bytes are copied. Returns for each packet in it, in order, whether a
   * decoder can read it; the list is empty for encodings without packets. Throws `bad_request`, and
   * then takes none of it.
   */
  push(message: Uint8Array): boolean[];
  /** Counts bytes of the stream that hold no sound, as headers do, with what is cut next. */
  skip(bytes: number): void;
  /**
   * Returns the oldest whole frames, about `limit` bytes at most; undefined when there are none.
   */
  cut(limit: number): CutAudio | undefined;
  /** Throws `conflict` when the loss of this many bytes is too long to accept. */
  checkLoss(bytes: number): void;
  /**
   * Records that `bytes` of the stream are lost, and returns how many that are in whole frames: what
   * comes after half of one would be noise. Where their duration is known, silence replaces them.
   * Throws as `checkLoss` does.
   */
  lose(bytes: number): number;
}

const OPUS_RATE = 16_000;
/** Frames after which Opus packets are stored without waiting for more. */
const LONGEST_FRAGMENT = 2 * OPUS_RATE;
/** The length prefix of a packet has 16 bits. */
const LONGEST_PACKET_BYTES = 0xffff;
/** As many as 1 MiB holds of packets of 20 ms at 6 kbit/s, the least that Opus has. */
const MOST_PACKETS = 65_536;
/** A longer loss is refused. */
const MAX_SILENCE_SECONDS = 120;

/** Throws `bad_request` for an encoding that cannot be read. */
export function createCutter(encoding: StreamSettings): StreamCutter {
  if (encoding.encoding === "opus") return new OpusCutter(encoding);
  if (!isSupportedRate(encoding.sampleRate)) {
    throw new AppError(
      "bad_request",
      `A sample_rate of ${encoding.sampleRate} is not supported: send a usual one from 8000 to 48000.`,
    );
  }
  return new SampleCutter(encoding);
}

/** Cuts PCM and µ-law, where every frame has the same size. */
class SampleCutter implements StreamCutter {
  readonly format: StreamFormat;
  readonly #frameBytes: number;
  readonly #silence: number;
  #parts: Uint8Array[] = [];
  #buffered = 0;
  #skipped = 0;

  constructor({ encoding, sampleRate, channels }: StreamSettings) {
    const name = encoding === "mulaw" ? "mulaw" : "s16le";
    this.format = {
      mediaType: `audio/pcm;rate=${sampleRate};channels=${channels};encoding=${name}`,
      sampleRate,
    };
    this.#frameBytes = channels * (encoding === "mulaw" ? 1 : 2);
    this.#silence = encoding === "mulaw" ? 0xff : 0;
  }

  get buffered(): number {
    return this.#buffered;
  }

  push(message: Uint8Array): boolean[] {
    if (message.byteLength === 0) return [];
    this.#parts.push(Uint8Array.from(message));
    this.#buffered += message.byteLength;
    return [];
  }

  skip(bytes: number): void {
    this.#skipped += bytes;
  }

  cut(limit: number): CutAudio | undefined {
    const frames = Math.floor(Math.min(this.#buffered, limit) / this.#frameBytes);
    if (frames === 0) return undefined;
    const bytes = frames * this.#frameBytes;
    const all = Buffer.concat(this.#parts);
    const rest = all.subarray(bytes);
    this.#parts = rest.byteLength > 0 ? [rest] : [];
    this.#buffered = rest.byteLength;
    const skipped = this.#skipped;
    this.#skipped = 0;
    return { data: all.subarray(0, bytes), frames, streamBytes: bytes + skipped };
  }

  checkLoss(bytes: number): void {
    if (bytes > MAX_SILENCE_SECONDS * this.format.sampleRate * this.#frameBytes) {
      throw new AppError(
        "conflict",
        `More than ${MAX_SILENCE_SECONDS} s of audio are missing. Send Configure to go on without them.`,
      );
    }
  }

  lose(bytes: number): number {
    this.checkLoss(bytes);
    const whole = Math.ceil(bytes / this.#frameBytes) * this.#frameBytes;
    this.push(new Uint8Array(whole).fill(this.#silence));
    return whole;
  }
}

/** Whether more packets lie in it, each after its length, without looking at them. */
function holdsMore(message: Uint8Array, most: number): boolean {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;
  for (let count = 0; count <= most; count += 1) {
    if (at + 2 > message.byteLength) return false;
    at += 2 + view.getUint16(at);
  }
  return true;
}

/**
 * Cuts Opus packets, each stored after its length; frames are counted at 16 kHz. Broken packets are
 * stored too, so that stream offsets agree with the device's count.
 */
class OpusCutter implements StreamCutter {
  readonly format: StreamFormat;
  readonly #framing: StreamSettings["framing"];
  #messages: CutAudio[] = [];
  #buffered = 0;
  #skipped = 0;

  constructor({ channels, framing }: StreamSettings) {
    const mediaType = `audio/opus;rate=${OPUS_RATE};channels=${channels};framing=length-prefixed`;
    this.format = { mediaType, sampleRate: OPUS_RATE };
    this.#framing = framing;
  }

  get buffered(): number {
    return this.#buffered;
  }

  push(message: Uint8Array): boolean[] {
    if (message.byteLength === 0) return [];
    if (this.#framing === "length_prefixed" && holdsMore(message, MOST_PACKETS)) {
      const text = `A message holds at most ${MOST_PACKETS} Opus packets.`;
      throw new AppError("bad_request", text);
    }
    const copy = Uint8Array.from(message);
    const packets = this.#framing === "packet" ? [copy] : splitOpusPackets(copy);
    const whole = packets.reduce((sum, { byteLength }) => sum + byteLength + 2, 0);
    if (this.#framing === "length_prefixed" && whole !== copy.byteLength) {
      throw new AppError("bad_request", "A message ends in the middle of an Opus packet.");
    }
    if (packets.some(({ byteLength }) => byteLength > LONGEST_PACKET_BYTES)) {
      throw new AppError("bad_request", "A message is too long for one Opus packet.");
    }
    this.#buffered += copy.byteLength;
    if (this.#framing === "packet") {
      const frames = opusPacketSamples(copy, OPUS_RATE);
      this.#messages.push({ data: joinOpusPackets(packets), frames, streamBytes: copy.byteLength });
    } else this.#pushFragments(packets);
    return packets.map(isOpusPacket);
  }

  /** A few bytes may hold hours of sound, so a message is cut where it is. */
  #pushFragments(packets: readonly Uint8Array[]): void {
    let [fragment, frames]: [Uint8Array[], number] = [[], 0];
    for (const packet of packets) {
      fragment.push(packet);
      frames += opusPacketSamples(packet, OPUS_RATE);
      const isLast = packet === packets.at(-1);
      if (frames < LONGEST_FRAGMENT && !isLast) continue;
      const data = joinOpusPackets(fragment);
      this.#messages.push({ data, frames, streamBytes: data.byteLength });
      [fragment, frames] = [[], 0];
    }
  }

  cut(limit: number): CutAudio | undefined {
    let count = 0;
    let bytes = 0;
    let length = 0;
    for (const { data, frames } of this.#messages) {
      if (count > 0 && (bytes + data.byteLength > limit || length >= LONGEST_FRAGMENT)) break;
      bytes += data.byteLength;
      length += frames;
      count += 1;
    }
    if (count === 0) return undefined;
    const taken = this.#messages.splice(0, count);
    const streamBytes = taken.reduce((sum, part) => sum + part.streamBytes, 0);
    this.#buffered -= streamBytes;
    const skipped = this.#skipped;
    this.#skipped = 0;
    return {
      data: Buffer.concat(taken.map(({ data }) => data)),
      frames: taken.reduce((sum, { frames }) => sum + frames, 0),
      streamBytes: streamBytes + skipped,
    };
  }

  skip(bytes: number): void {
    this.#skipped += bytes;
  }

  /** The duration of lost packets is unknown, so nothing replaces them. */
  checkLoss(): void {}

  lose(bytes: number): number {
    this.skip(bytes);
    return bytes;
  }
}
