/** Packets, each after its length as uint16, big endian; decoded to 16 kHz mono. */
export const OPUS_MEDIA_TYPE = "audio/opus;rate=16000;channels=1;framing=length-prefixed";

/** Opus has no packet longer than this (RFC 6716, section 3.4). */
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

/**
 * Samples that one Opus packet lasts at `rate`, told by its first bytes alone; 0 for what is no
 * packet: nothing at all, a frame count of none, or more than 120 ms.
 *
 * @param rate 8, 12, 16, 24 or 48 kHz
 */
export function opusPacketSamples(packet: Uint8Array, rate: number): number {
  const [toc, second] = packet;
  if (toc === undefined) return 0;
  const count = frameCount(toc & 3, second);
  const microseconds = count * frameMicroseconds(toc >> 3);
  if (microseconds > LONGEST_MS * 1_000) return 0;
  return (microseconds * rate) / 1_000_000;
}

/** Packets that each follow their length as uint16, big endian; a cut-off one at the end is left out. */
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
