import { SESSION_RATE } from "./sample-rate.ts";

/** Media type of packets, each after its length as uint16, big endian; decoded to 16 kHz mono. */
export const OPUS_MEDIA_TYPE = "audio/opus;rate=16000;channels=1;framing=length-prefixed";

/**
 * Audio that a decoder processes before the first sample that is used, at 16 kHz. RFC 7845 (4.6)
 * requires at least 80 ms; on voiced speech that leaves an error which four times as much does not.
 */
export const OPUS_PRE_ROLL = 0.32 * SESSION_RATE;

/** The longest duration of a packet (RFC 6716, section 3.4). */
const LONGEST_MS = 120;
const COUNT_BYTES = 2;

/** Frame lengths of the 32 configurations in microseconds (RFC 6716, section 3.1). */
const SILK_US = [10_000, 20_000, 40_000, 60_000];
const HYBRID_US = [10_000, 20_000];
const CELT_US = [2_500, 5_000, 10_000, 20_000];

/** True for `audio/opus` with the framing of `OPUS_MEDIA_TYPE`, whatever its other parameters. */
export function isOpusMediaType(mediaType: string): boolean {
  const [type, ...parameters] = mediaType.split(";").map((part) => part.trim().toLowerCase());
  return type === "audio/opus" && parameters.includes("framing=length-prefixed");
}

/** Assumed duration of a packet that states none; nearly all packets have it. */
const USUAL_US = 20_000;
/** The longest frame (RFC 6716, R2), bytes. */
const LONGEST_FRAME_BYTES = 1_275;

/**
 * Duration of an Opus packet in samples at `rate`, by its first bytes alone. For an invalid packet
 * (see `isOpusPacket`) it is the stated duration, or 20 ms when that is not possible.
 *
 * @param rate 8, 12, 16, 24 or 48 kHz
 */
export function opusPacketSamples(packet: Uint8Array, rate: number): number {
  return ((packetMicroseconds(packet) ?? USUAL_US) * rate) / 1_000_000;
}

function packetMicroseconds([toc, second]: Uint8Array): number | undefined {
  if (toc === undefined) return undefined;
  const microseconds = frameCount(toc & 3, second) * frameMicroseconds(toc >> 3);
  return microseconds > 0 && microseconds <= LONGEST_MS * 1_000 ? microseconds : undefined;
}

/**
 * True for a valid packet by the rules R1 to R7 of RFC 6716 (3.4). A decoder accepts exactly these,
 * whatever their frames contain.
 */
export function isOpusPacket(packet: Uint8Array): boolean {
  const [toc = 0] = packet;
  if (packetMicroseconds(packet) === undefined) return false;
  const length = packet.byteLength - 1;
  switch (toc & 3) {
    case 0:
      return length <= LONGEST_FRAME_BYTES;
    case 1:
      return length % 2 === 0 && length / 2 <= LONGEST_FRAME_BYTES;
    case 2:
      return framesFit(packet, 1, packet.byteLength, 2);
    default:
      return isManyFrames(packet);
  }
}

/** Checks code 3: any number of frames, possibly of different lengths, possibly with padding. */
function isManyFrames(packet: Uint8Array): boolean {
  const [, counts = 0] = packet;
  const count = counts & 0x3f;
  let at = 2;
  let end = packet.byteLength;
  for (let more = (counts & 0x40) !== 0; more; ) {
    const padding = packet[at];
    if (padding === undefined) return false;
    at += 1;
    end -= padding === 0xff ? 0xfe : padding;
    more = padding === 0xff;
  }
  if (end < at) return false;
  if ((counts & 0x80) !== 0) return framesFit(packet, at, end, count);
  return (end - at) % count === 0 && (end - at) / count <= LONGEST_FRAME_BYTES;
}

/** Checks frames with their lengths before them; the last frame takes the remaining bytes. */
function framesFit(packet: Uint8Array, from: number, end: number, count: number): boolean {
  let at = from;
  let announced = 0;
  for (let frame = 1; frame < count; frame += 1) {
    const first = packet[at] ?? 0;
    const isLong = first >= 252;
    const second = isLong ? (packet[at + 1] ?? 0) : 0;
    at += isLong ? 2 : 1;
    announced += first + 4 * second;
    if (at > end) return false;
  }
  const last = end - at - announced;
  return last >= 0 && last <= LONGEST_FRAME_BYTES;
}

/**
 * Splits packets that each follow their length as uint16, big endian; a truncated last one is left
 * out.
 */
export function splitOpusPackets(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packets: Uint8Array[] = [];
  for (let at = 0; at + COUNT_BYTES <= bytes.byteLength; ) {
    const from = at + COUNT_BYTES;
    at = from + view.getUint16(at);
    if (at <= bytes.byteLength) packets.push(bytes.subarray(from, at));
  }
  return packets;
}

/** The reverse of `splitOpusPackets`. Throws RangeError for a packet of 64 KiB or more. */
export function joinOpusPackets(packets: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = packets.reduce((total, packet) => total + COUNT_BYTES + packet.byteLength, 0);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const packet of packets) {
    if (packet.byteLength > 0xffff) throw new RangeError("an Opus packet is shorter than 64 KiB");
    view.setUint16(at, packet.byteLength);
    bytes.set(packet, at + COUNT_BYTES);
    at += COUNT_BYTES + packet.byteLength;
  }
  return bytes;
}

function frameCount(code: number, second: number | undefined): number {
  if (code === 0) return 1;
  return code === 3 ? (second ?? 0) & 0x3f : 2;
}

function frameMicroseconds(configuration: number): number {
  if (configuration < 12) return SILK_US[configuration % 4] ?? 0;
  if (configuration < 16) return HYBRID_US[configuration % 2] ?? 0;
  return CELT_US[configuration % 4] ?? 0;
}
