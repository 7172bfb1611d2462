import { type FrameHeader, readFrameHeader } from "../audio/mpeg-frames.ts";
import type { FileBytes } from "./file-bytes.ts";
import { afterId3Tags } from "./id3.ts";

/** Junk before the first frame that is searched for it, bytes. */
const LONGEST_JUNK = 64 * 1024;
/** So many frames in a row are sound, a quarter of a second. */
const LONG = 10;
/** What a decoder of layer III holds back, samples (Xing/LAME tag, "decoder delay"). */
const DECODER_DELAY = 529;
/** What LAME, and most encoders after it, put before the sound, samples. */
const ENCODER_DELAY = 576;

/** The frames of an MP3 (or MP2) file. */
export interface MpegAudio {
  sampleRate: number;
  channels: number;
  /** Samples of each channel in one frame. */
  perFrame: number;
  /** Offset and length of each frame, alternating. */
  places: number[];
  /** Decoded samples before the first one that counts: what encoder and decoder hold back. */
  skip: number;
  /** Samples of each channel that count. */
  frames: number;
  /** Whether the frames are so many that they are no bytes that look like some. */
  isLong: boolean;
}

/**
 * Finds the frames of MPEG audio, layer II or III, by their headers; nothing is decoded. Tags and
 * junk between frames are left out, as are a Xing, Info or VBRI frame and the samples that a LAME
 * tag says the encoder added. Where a stream begins without such a tag, the usual delay is left out.
 * Undefined when there are no two frames in a row, or only one that fills the file.
 */
export function findMpegFrames(bytes: Uint8Array): MpegAudio | undefined {
  const from = afterId3Tags(bytes);
  const begin = nextFrame(bytes, from, undefined, from + LONGEST_JUNK);
  if (begin === undefined) return undefined;
  return described(bytes, begin.header, placesFrom(bytes, begin.at, begin.header));
}

/** Offset and length of each frame of a stream from a place on, alternating, until other sound comes. */
function placesFrom(bytes: Uint8Array, from: number, first: FrameHeader): number[] {
  const places: number[] = [];
  for (let at = from; at < bytes.byteLength; ) {
    let header = readFrameHeader(bytes, at);
    if (header === undefined || !isAlike(header, first)) {
      const next = nextFrame(bytes, at, first, bytes.byteLength);
      if (next === undefined || hasOtherSound(bytes, at, next.at)) break;
      at = next.at;
      header = next.header;
    }
    if (at + header.length > bytes.byteLength) break;
    places.push(at, header.length);
    at += header.length;
  }
  return places;
}

/**
 * Behind the last frame of the stream that a file begins with, bytes; undefined where no frame is.
 *
 * @param window bytes that are looked through at a time, more than a frame has
 */
export function endOfMpegFrames(file: FileBytes, window: number): number | undefined {
  let end = afterId3Tags(file.read(0, window));
  const begin = nextFrame(file.read(end, window), 0, undefined, LONGEST_JUNK);
  if (begin === undefined) return undefined;
  end += begin.at;
  for (;;) {
    const bytes = file.read(end, window);
    const places = placesFrom(bytes, 0, begin.header);
    const isLast = end + bytes.length >= file.size;
    end += (places.at(-2) ?? 0) + (places.at(-1) ?? 0);
    if (isLast || places.length === 0) return end;
  }
}

function described(bytes: Uint8Array, first: FrameHeader, places: number[]): MpegAudio | undefined {
  const [at = 0, length = 0] = places;
  const info = infoOf(bytes.subarray(at, at + length), first);
  if (info !== undefined) places.splice(0, 2);
  const total = (places.length / 2) * first.samples;
  const isBegin = info !== undefined || beginsStream(bytes, first, places);
  const delay = info?.delay || (isBegin ? ENCODER_DELAY : 0);
  const skip = isBegin ? delay + DECODER_DELAY : 0;
  // A tag's padding counts what the decoder holds back; of other files only the beginning is known.
  const frames = info?.delay ? total - delay - (info.padding ?? 0) : total - skip;
  if (frames <= 0) return undefined;
  return {
    sampleRate: first.sampleRate,
    channels: first.channels,
    perFrame: first.samples,
    places,
    skip,
    frames,
    isLong: places.length >= 2 * LONG,
  };
}

/**
 * Whether the first frame begins its stream: it takes no bits from the frame before, and the next
 * one does. In the middle of such a stream hardly any frame stands alone. Where none takes bits
 * from another, nothing tells; a device's parts would lose sound at each cut, so nothing is cut.
 */
function beginsStream(bytes: Uint8Array, first: FrameHeader, places: readonly number[]): boolean {
  const [one, , two] = places;
  if (first.layer !== 3 || one === undefined || two === undefined) return false;
  return borrowedBytes(bytes, one) === 0 && borrowedBytes(bytes, two) > 0;
}

/** How many bytes of earlier frames a frame of layer III needs (`main_data_begin`). */
function borrowedBytes(bytes: Uint8Array, at: number): number {
  const [, second = 0] = bytes.subarray(at, at + 2);
  const isOne = ((second >> 3) & 3) === 3;
  const hasChecksum = (second & 1) === 0;
  const [high = 0, low = 0] = bytes.subarray(at + (hasChecksum ? 6 : 4));
  return isOne ? (high << 1) | (low >> 7) : high;
}

/**
 * The next place where a header is followed by another one of its kind, or by the end of the file.
 */
function nextFrame(
  bytes: Uint8Array,
  from: number,
  like: FrameHeader | undefined,
  to: number,
): { at: number; header: FrameHeader } | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = data.indexOf(0xff, from); at >= 0 && at < to; at = data.indexOf(0xff, at + 1)) {
    const header = readFrameHeader(bytes, at);
    if (header === undefined || (like !== undefined && !isAlike(header, like))) continue;
    const end = at + header.length;
    const isLast = end === bytes.byteLength || latin1(bytes, end, 3) === "TAG";
    const next = readFrameHeader(bytes, end);
    if (isLast || (next !== undefined && isAlike(next, header))) return { at, header };
  }
  return undefined;
}

/** Whether so many frames of one kind follow each other here that they are another recording. */
function hasOtherSound(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const begin = nextFrame(bytes, at, undefined, to);
    if (begin === undefined) return false;
    at = begin.at;
    if (runLength(bytes, begin.at, begin.header) >= LONG) return true;
  }
  return false;
}

/** Frames of this kind that follow each other from here on, `LONG` at most. */
function runLength(bytes: Uint8Array, from: number, first: FrameHeader): number {
  let count = 0;
  for (let at = from; count < LONG; count += 1) {
    const header = readFrameHeader(bytes, at);
    if (header === undefined || !isAlike(header, first)) break;
    at += header.length;
  }
  return count;
}

/** Whether one stream holds both; the bits about rights and emphasis may differ. */
function isAlike(one: FrameHeader, other: FrameHeader): boolean {
  return one.kind >> 4 === other.kind >> 4;
}

interface Info {
  delay?: number;
  padding?: number;
}

/** What the first frame tells if it holds no sound: a Xing, Info or VBRI header. */
function infoOf(frame: Uint8Array, { version, channels, layer }: FrameHeader): Info | undefined {
  if (layer !== 3) return undefined;
  if (latin1(frame, 36, 4) === "VBRI") return {};
  const side = version === 1 ? (channels === 1 ? 17 : 32) : channels === 1 ? 9 : 17;
  const at = 4 + side;
  const name = latin1(frame, at, 4);
  if (name !== "Xing" && name !== "Info") return undefined;
  const flags = frame[at + 7] ?? 0;
  const parts = (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0);
  const tag = at + 8 + parts + (flags & 8 ? 4 : 0);
  if (!["LAME", "Lavf", "Lavc", "GOGO"].includes(latin1(frame, tag, 4))) return {};
  const [a = 0, b = 0, c = 0] = frame.subarray(tag + 21, tag + 24);
  return { delay: (a << 4) | (b >> 4), padding: ((b & 0x0f) << 8) | c };
}

function latin1(bytes: Uint8Array, at: number, length: number): string {
  return Buffer.from(bytes.subarray(at, at + length)).toString("latin1");
}
