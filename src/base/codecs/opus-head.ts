/** The identification header of Opus in Ogg and WebM (RFC 7845, section 5.1). */
export interface OpusHead {
  channels: number;
  /** Samples at 48 kHz that the decoder drops at the beginning. */
  preSkip: number;
  streams: number;
  /** How many of the streams are stereo. */
  coupled: number;
  /** For each channel which of the decoded ones it is; 255 is silence. */
  mapping: number[];
}

/** Undefined for bytes that are no such header, or of a version that is not known. */
export function readOpusHead(packet: Uint8Array): OpusHead | undefined {
  if (!isOpusHead(packet) || packet.byteLength < 19) return undefined;
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const channels = view.getUint8(9);
  const family = view.getUint8(18);
  if (view.getUint8(8) >> 4 !== 0 || channels === 0) return undefined;
  const preSkip = view.getUint16(10, true);
  if (family === 0) return channels > 2 ? undefined : plainHead(channels, preSkip);
  if (packet.byteLength < 21 + channels) return undefined;
  const streams = view.getUint8(19);
  const coupled = view.getUint8(20);
  const mapping = [...packet.subarray(21, 21 + channels)];
  const isMapped = mapping.every((each) => each === 255 || each < streams + coupled);
  // Streams that no channel shows would only take memory.
  if (streams === 0 || streams > channels || coupled > streams || !isMapped) return undefined;
  return { channels, preSkip, streams, coupled, mapping };
}

/** One or two channels of one stream. */
export function plainHead(channels: number, preSkip: number): OpusHead {
  const mapping = channels === 1 ? [0] : [0, 1];
  return { channels, preSkip, streams: 1, coupled: channels - 1, mapping };
}

export function isOpusHead(packet: Uint8Array): boolean {
  return Buffer.from(packet.subarray(0, 8)).toString("latin1") === "OpusHead";
}

export function isOpusTags(packet: Uint8Array): boolean {
  return Buffer.from(packet.subarray(0, 8)).toString("latin1") === "OpusTags";
}
