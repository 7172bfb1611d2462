import { isAudioFormatError, parseWavHeader } from "../audio/wav.ts";
import { readFlac } from "./flac.ts";
import { findMpegFrames } from "./mpeg.ts";
import { joinedOggStream } from "./ogg.ts";
import { isOpusHead } from "./opus-head.ts";
import { soundKind } from "./sound-kinds.ts";
import { behindWebm } from "./webm.ts";

/** Most recordings of one file that are read. */
export const MOST_RECORDINGS = 20;
/** Of MP4: bytes of a box's size and type, and types of boxes. */
const BOX = { head: 8, ftyp: 0x66747970, moov: 0x6d6f6f76 } as const;
/** Most chunks behind the samples of a WAV file that are looked at. */
const MOST_CHUNKS = 100;
/** As much as the marks of files take. */
const MARK_BYTES = 64;
/** Headers of WAV files that are longer are refused. */
const WAV_HEAD_BYTES = 256 * 1024;
/** A FLAC file's mark and the head of its first block, STREAMINFO; the last one, or not. */
const FLAC_MARKS = [
  Buffer.from("fLaC\0\0\0\x22", "latin1"),
  Buffer.from("fLaC\x80\0\0\x22", "latin1"),
];

/**
 * Where other recordings begin in a file that was put together from whole ones (`cat a.wav b.wav`)
 * and that a reader of the first one does not reach: byte offsets, in order. Empty for a usual file;
 * as many as `MOST_RECORDINGS` for one of too many.
 */
export function recordingStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  for (let at = 0; starts.length < MOST_RECORDINGS; ) {
    const next = nextRecording(bytes.subarray(at));
    if (next === undefined) break;
    at += next;
    starts.push(at);
  }
  return starts;
}

/** Where the recording behind the first one begins; undefined when there is none. */
export function nextRecording(bytes: Uint8Array): number | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isMp4(data)) return behindMp4(data);
  switch (soundKind(bytes)) {
    case "wav":
      return behindWav(bytes);
    case "mp3":
      return behindMpeg(bytes);
    case "flac":
      return behindFlac(bytes);
    case "ogg":
      return joinedOggStream(bytes, isOpusHead);
    case "webm":
      return behindWebm(data, (at) => isOther(data, at));
    default:
      return undefined;
  }
}

/**
 * The same of a WAV file that is too large to be held in memory: of each recording the header alone
 * is read, and of what lies behind its samples the heads of the chunks. Undefined where a recording
 * of another kind follows, behind which only reading all of it would find the next one.
 *
 * @param size of the file, bytes
 * @param read the file's bytes from `at` on, fewer at its end
 */
export function wavStarts(
  size: number,
  read: (at: number, length: number) => Uint8Array,
): number[] | undefined {
  const starts: number[] = [];
  for (let at = 0; starts.length < MOST_RECORDINGS; ) {
    const head = read(at, WAV_HEAD_BYTES);
    if (soundKind(head) !== "wav") return undefined;
    const from = at;
    const format = parseWavHeader(head, size - from);
    if (isAudioFormatError(format)) break;
    const end = format.dataOffset + format.dataLength;
    const next = behindSamples(end, size - from, (place, length) => read(from + place, length));
    if (next === undefined) break;
    at += next;
    starts.push(at);
  }
  return starts;
}

/** Its boxes follow each other, the index before the sound or behind it. */
function behindMp4(data: Buffer): number | undefined {
  let hasIndex = false;
  for (let at = 0; at + BOX.head <= data.length; ) {
    const type = data.readUInt32BE(at + 4);
    if (hasIndex && type === BOX.ftyp) return at;
    hasIndex ||= type === BOX.moov;
    const size = boxSize(data, at);
    if (at + size > data.length) return hasIndex && isBeginning(data, at) ? at : undefined;
    at += size;
  }
  return undefined;
}

/** With its head; infinite where it goes on to the end, or is none. */
function boxSize(data: Buffer, at: number): number {
  const size = data.readUInt32BE(at);
  if (size === 1 && at + 16 <= data.length) return Number(data.readBigUInt64BE(at + 8));
  return size < BOX.head ? Number.POSITIVE_INFINITY : size;
}

/** Other chunks may follow the samples: texts, cue points. */
function behindWav(bytes: Uint8Array): number | undefined {
  const format = parseWavHeader(bytes);
  if (isAudioFormatError(format)) return undefined;
  const end = format.dataOffset + format.dataLength;
  return behindSamples(end, bytes.length, (at, length) => bytes.subarray(at, at + length));
}

function behindSamples(
  end: number,
  size: number,
  read: (at: number, length: number) => Uint8Array,
): number | undefined {
  let at = end;
  for (let chunk = 0; chunk < MOST_CHUNKS && at + 12 <= size; chunk += 1) {
    // Each begins at an even place, which some programs forget.
    const heads = Buffer.from(read(at, MARK_BYTES + 1));
    const place = [0, 1].find((each) => isBeginning(heads, each));
    if (place !== undefined) return at + place;
    at += 8 + heads.readUInt32LE((at % 2) + 4) + (at % 2);
    at += at % 2;
  }
  return undefined;
}

function behindMpeg(bytes: Uint8Array): number | undefined {
  const end = findMpegFrames(bytes)?.end;
  if (end === undefined) return undefined;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isBeginning(data, end)) return end;
  return findMpegFrames(bytes.subarray(end))?.isLong === true ? end : undefined;
}

function behindFlac(bytes: Uint8Array): number | undefined {
  const flac = readFlac(bytes);
  if (flac === undefined) return undefined;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const places = FLAC_MARKS.map((mark) => data.indexOf(mark, flac.audio)).filter((at) => at >= 0);
  return places.length === 0 ? undefined : Math.min(...places);
}

/** Whether a file of a kind with a plain mark begins here. */
function isBeginning(bytes: Uint8Array, at: number): boolean {
  return isOther(bytes, at) || soundKind(bytes.subarray(at, at + MARK_BYTES)) === "webm";
}

/** The same, but for WebM. */
function isOther(bytes: Uint8Array, at: number): boolean {
  const head = bytes.subarray(at, at + MARK_BYTES);
  const kind = soundKind(head);
  return kind === "wav" || kind === "flac" || kind === "ogg" || isMp4(head);
}

function isMp4(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(4, BOX.head)).toString("latin1") === "ftyp";
}
