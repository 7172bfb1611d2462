import { afterId3Tags } from "./id3.ts";

/** Type and length of a metadata block. */
const BLOCK_HEAD = 4;
const STREAMINFO_BYTES = 34;
const MARK_BYTES = 4;
/** The longest frame header, bytes. */
const LONGEST_HEADER = 16;

/** Bits of a sample that the decoder gives as they are. */
export const FLAC_BITS: ReadonlySet<number> = new Set([16, 24]);

/** What a FLAC file says of itself (RFC 9639). */
export interface FlacAudio {
  sampleRate: number;
  channels: number;
  bitsPerSample: number;
  /** Samples of each channel that are there, whatever the file says. */
  frames: number;
  /** Mark and STREAMINFO alone, as the only metadata. */
  head: Uint8Array;
  /** Offset of the first audio frame. */
  audio: number;
}

interface FrameHead {
  /** Number of its first sample. */
  first: number;
  samples: number;
}

/**
 * Reads the metadata of a FLAC file and its last frame's header; nothing is decoded. Undefined when
 * it holds no audio frame.
 */
export function readFlac(bytes: Uint8Array): FlacAudio | undefined {
  const mark = afterId3Tags(bytes);
  const blocks = metadata(bytes, mark + MARK_BYTES);
  if (blocks === undefined) return undefined;
  const { info, audio } = blocks;
  const view = new DataView(info.buffer, info.byteOffset, info.byteLength);
  const packed = view.getUint32(10);
  const total = (packed & 0x0f) * 2 ** 32 + view.getUint32(14);
  // The low four bits of `packed` are the highest of the total.
  const stream = {
    sampleRate: packed >>> 12,
    channels: ((packed >>> 9) & 7) + 1,
    bitsPerSample: (((info[12] ?? 0) & 1) << 4) + ((info[13] ?? 0) >> 4) + 1,
  };
  const blockSize = view.getUint16(2);
  if (frameAt(bytes, audio, blockSize) === undefined) return undefined;
  const there = lastFrame(bytes, audio, blockSize, total);
  const frames = total === 0 ? there : Math.min(total, there);
  const head = new Uint8Array(MARK_BYTES + BLOCK_HEAD + STREAMINFO_BYTES);
  head.set(bytes.subarray(mark, mark + MARK_BYTES));
  // The last metadata block, of type STREAMINFO.
  head.set([0x80, 0, 0, STREAMINFO_BYTES], MARK_BYTES);
  head.set(info, MARK_BYTES + BLOCK_HEAD);
  return { ...stream, frames, head, audio };
}

function metadata(
  bytes: Uint8Array,
  from: number,
): { info: Uint8Array; audio: number } | undefined {
  let info: Uint8Array | undefined;
  for (let at = from; at + BLOCK_HEAD <= bytes.byteLength; ) {
    const [kind = 0, a = 0, b = 0, c = 0] = bytes.subarray(at, at + BLOCK_HEAD);
    const length = (a << 16) | (b << 8) | c;
    if ((kind & 0x7f) === 0 && length === STREAMINFO_BYTES) {
      info = bytes.subarray(at + BLOCK_HEAD, at + BLOCK_HEAD + length);
    }
    at += BLOCK_HEAD + length;
    if ((kind & 0x80) === 0) continue;
    if (info?.byteLength !== STREAMINFO_BYTES || at >= bytes.byteLength) return undefined;
    return { info, audio: at };
  }
  return undefined;
}

/** End of the last frame whose header is there, in samples. */
function lastFrame(bytes: Uint8Array, audio: number, blockSize: number, total: number): number {
  for (let at = bytes.byteLength - 1; at >= audio; at -= 1) {
    if (bytes[at] !== 0xff) continue;
    const frame = frameAt(bytes, at, blockSize);
    // The bits that no frame of a stream changes: sample rate, channels' number, sample size.
    if (frame === undefined || !isAlike(bytes, audio, at)) continue;
    if (total === 0 || frame.first < total) return frame.first + frame.samples;
  }
  return 0;
}

function isAlike(bytes: Uint8Array, first: number, second: number): boolean {
  const rate = (at: number) => (bytes[at + 2] ?? 0) & 0x0f;
  const size = (at: number) => (bytes[at + 3] ?? 0) & 0x0e;
  return (
    bytes[first + 1] === bytes[second + 1] &&
    rate(first) === rate(second) &&
    size(first) === size(second)
  );
}

/** The frame header at this place, if there is one and its checksum is right. */
function frameAt(bytes: Uint8Array, at: number, blockSize: number): FrameHead | undefined {
  const [sync = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4);
  if (sync !== 0xff || (second & 0xfe) !== 0xf8 || (fourth & 1) !== 0) return undefined;
  const sizeCode = third >> 4;
  const rateCode = third & 0x0f;
  if (sizeCode === 0 || rateCode === 15 || fourth >> 4 > 10) return undefined;
  const number = codedNumber(bytes, at + 4);
  if (number === undefined) return undefined;
  let end = number.end;
  const samples = blockSamples(sizeCode, bytes, end);
  end += sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  end += rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  if (end - at >= LONGEST_HEADER || end >= bytes.byteLength) return undefined;
  if (crc8(bytes, at, end) !== bytes[end]) return undefined;
  // With a fixed block size frames are counted, else samples.
  const first = (second & 1) === 1 ? number.value : number.value * (blockSize || samples);
  return { first, samples };
}

function blockSamples(code: number, bytes: Uint8Array, at: number): number {
  if (code === 1) return 192;
  if (code <= 5) return 576 << (code - 2);
  if (code === 6) return (bytes[at] ?? 0) + 1;
  if (code === 7) return ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0) + 1;
  return 256 << (code - 8);
}

/** A number coded like a character of UTF-8, of up to 36 bits. */
function codedNumber(bytes: Uint8Array, at: number): { value: number; end: number } | undefined {
  const first = bytes[at];
  if (first === undefined || first === 0xff) return undefined;
  if (first < 0x80) return { value: first, end: at + 1 };
  const ones = Math.clz32(~(first << 24));
  if (ones < 2 || ones > 7) return undefined;
  let value = first & (0x7f >> ones);
  for (let index = 1; index < ones; index += 1) {
    const next = bytes[at + index] ?? 0;
    if ((next & 0xc0) !== 0x80) return undefined;
    value = value * 64 + (next & 0x3f);
  }
  return { value, end: at + ones };
}

/** CRC with the polynomial x^8 + x^2 + x + 1. */
function crc8(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at += 1) {
    crc ^= bytes[at] ?? 0;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x80) === 0 ? crc << 1 : (crc << 1) ^ 0x07;
    crc &= 0xff;
  }
  return crc;
}
