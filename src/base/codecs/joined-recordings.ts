import { isAudioFormatError, parseWavHeader } from "../audio/wav.ts";
import { bytesBehind, type FileBytes, findMark } from "./file-bytes.ts";
import { readFlac } from "./flac.ts";
import { endOfMpegFrames, findMpegFrames } from "./mpeg.ts";
import { joinedOggStream } from "./ogg.ts";
import { isOpusHead } from "./opus-head.ts";
import { soundKind } from "./sound-kinds.ts";
import { behindWebm } from "./webm.ts";

/** Most recordings of one file that are read. */
export const MOST_RECORDINGS = 20;
/** Of MP4: bytes of a box's size and type, of a long one's, and types of boxes. */
const BOX = { head: 8, longHead: 16, ftyp: 0x66747970, moov: 0x6d6f6f76 } as const;
/** Most chunks behind the samples of a WAV file that are looked at. */
const MOST_CHUNKS = 100;
/** As much as the marks of files take. */
const MARK_BYTES = 64;
/** Headers of WAV files that are longer are refused. */
const WAV_HEAD_BYTES = 256 * 1024;
/** Of a file as large as may be uploaded so many bytes are looked through at a time. */
const WINDOW_BYTES = 32 * 1024 * 1024;
/** A FLAC file's mark and the head of its first block, STREAMINFO; the last one, or not. */
const FLAC_MARKS = [
  Buffer.from("fLaC\0\0\0\x22", "latin1"),
  Buffer.from("fLaC\x80\0\0\x22", "latin1"),
];

/**
 * Where other recordings begin in a file that was put together from whole ones (`cat a.wav b.wav`)
 * and that a reader of the first one does not reach: byte offsets, in order. Empty for a usual file;
 * as many as `MOST_RECORDINGS` for one of too many.
 *
 * @param window bytes that are looked through at a time, at least as many as the longest head takes
 */
export function recordingStarts(file: FileBytes, window = WINDOW_BYTES): number[] {
  const starts: number[] = [];
  for (let at = 0; starts.length < MOST_RECORDINGS; ) {
    const next = nextRecording(bytesBehind(file, at), window);
    if (next === undefined) break;
    at += next;
    starts.push(at);
  }
  return starts;
}

/** Where the recording behind the first one begins; undefined when there is none. */
export function nextRecording(file: FileBytes, window = WINDOW_BYTES): number | undefined {
  const head = file.read(0, WAV_HEAD_BYTES);
  if (isMp4(head)) return behindMp4(file);
  switch (soundKind(head)) {
    case "wav":
      return behindWav(file, head);
    case "mp3":
      return behindMpeg(file, window);
    case "flac":
      return behindFlac(file, window);
    case "ogg":
      return joinedOggStream(file, isOpusHead, window);
    case "webm":
      return behindWebm(file, (at) => isOther(file, at), window);
    default:
      return undefined;
  }
}

/** Its boxes follow each other, the index before the sound or behind it. */
function behindMp4(file: FileBytes): number | undefined {
  let hasIndex = false;
  for (let at = 0; at + BOX.head <= file.size; ) {
    const head = file.read(at, BOX.longHead);
    const type = head.readUInt32BE(4);
    if (hasIndex && type === BOX.ftyp) return at;
    hasIndex ||= type === BOX.moov;
    const size = boxSize(head);
    if (at + size > file.size) return hasIndex && isBeginning(file, at) ? at : undefined;
    at += size;
  }
  return undefined;
}

/** With its head; infinite where it goes on to the end, or is none. */
function boxSize(head: Buffer): number {
  const size = head.readUInt32BE(0);
  if (size === 1 && head.length >= BOX.longHead) return Number(head.readBigUInt64BE(BOX.head));
  return size < BOX.head ? Number.POSITIVE_INFINITY : size;
}

/** Other chunks may follow the samples: texts, cue points. */
function behindWav(file: FileBytes, head: Buffer): number | undefined {
  const format = parseWavHeader(head, file.size);
  if (isAudioFormatError(format)) return undefined;
  let at = format.dataOffset + format.dataLength;
  for (let chunk = 0; chunk < MOST_CHUNKS && at + 12 <= file.size; chunk += 1) {
    // Each begins at an even place, which some programs forget.
    const place = [at, at + 1].find((each) => isBeginning(file, each));
    if (place !== undefined) return place;
    at += at % 2;
    if (at + 8 > file.size) break;
    at += 8 + file.read(at + 4, 4).readUInt32LE(0);
  }
  return undefined;
}

function behindMpeg(file: FileBytes, window: number): number | undefined {
  const end = endOfMpegFrames(file, window);
  if (end === undefined) return undefined;
  if (isBeginning(file, end)) return end;
  return findMpegFrames(file.read(end, window))?.isLong === true ? end : undefined;
}

function behindFlac(file: FileBytes, window: number): number | undefined {
  const flac = readFlac(file.read(0, window));
  return flac && findMark(file, FLAC_MARKS, flac.audio, window);
}

/** Whether a file of a kind with a plain mark begins here. */
function isBeginning(file: FileBytes, at: number): boolean {
  return isOther(file, at) || soundKind(file.read(at, MARK_BYTES)) === "webm";
}

/** The same, but for WebM. */
function isOther(file: FileBytes, at: number): boolean {
  const head = file.read(at, MARK_BYTES);
  const kind = soundKind(head);
  return kind === "wav" || kind === "flac" || kind === "ogg" || isMp4(head);
}

function isMp4(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(4, BOX.head)).toString("latin1") === "ftyp";
}
