import type { OggStream } from "./ogg.ts";

const IDENTIFICATION_BYTES = 30;
const HEADERS = 3;
/** A stream that begins later than this, in seconds, was cut out of a longer one. */
const LONGEST_LEAD = 10;

/** A Vorbis stream: three headers, then packets of sound. */
export interface VorbisAudio {
  sampleRate: number;
  channels: number;
  headers: Uint8Array[];
  packets: Uint8Array[];
  /** Samples of each channel. */
  frames: number;
}

export function isVorbisHead(packet: Uint8Array): boolean {
  return packet[0] === 1 && isVorbis(packet);
}

function isVorbis(packet: Uint8Array): boolean {
  return Buffer.from(packet.subarray(1, 7)).toString("latin1") === "vorbis";
}

/**
 * Reads what a Vorbis stream says of itself; its length comes from its granule positions, and that of
 * packets behind the last one from the mean of those before. Undefined when headers are missing.
 */
export function readVorbis(stream: OggStream): VorbisAudio | undefined {
  const { packets, granule, firstGranule, timed } = stream;
  const [head, comment, setup] = packets;
  if (head === undefined || comment === undefined || setup === undefined) return undefined;
  const isWhole = head.byteLength >= IDENTIFICATION_BYTES && comment[0] === 3 && setup[0] === 5;
  if (!isWhole || !isVorbis(comment) || !isVorbis(setup)) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const sampleRate = view.getUint32(12, true);
  const channels = view.getUint8(11);
  const longestBlock = 1 << (view.getUint8(28) >> 4);
  const sound = packets.slice(HEADERS).filter((packet) => ((packet[0] ?? 1) & 1) === 0);
  // Two neighbouring blocks of the longest size give half of one.
  const most = Math.max(0, sound.length - 1) * (longestBlock / 2);
  const lead = (firstGranule ?? 0) > LONGEST_LEAD * sampleRate ? (firstGranule ?? 0) : 0;
  const told = Math.max(0, (granule ?? 0) - lead);
  const before = Math.max(1, timed - HEADERS);
  const behind = Math.round((told / before) * Math.max(0, sound.length - before));
  const frames = Math.min(most, told + behind);
  return { sampleRate, channels, headers: [head, comment, setup], packets: sound, frames };
}
