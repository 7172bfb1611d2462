import { isWav } from "../audio/wav.ts";
import { afterId3Tags } from "./id3.ts";

/** What a file is by its first bytes; "part" of a stream whose beginning lies in another file. */
export type SoundKind =
  | "wav"
  | "mp3"
  | "flac"
  | "ogg"
  | "webm"
  | "ogg-part"
  | "webm-part"
  | { refused: string };

const CLUSTER = "\x1f\x43\xb6\x75";
const FLAG_FIRST = 2;

/** Formats that are known by their marks and not read. */
const REFUSED: readonly (readonly [mark: string, at: number, name: string])[] = [
  ["ftyp", 4, "MP4/M4A (AAC)"],
  ["moof", 4, "MP4/M4A (AAC)"],
  ["styp", 4, "MP4/M4A (AAC)"],
  ["AIF", 8, "AIFF"],
  ["#!AMR", 0, "AMR"],
  ["caff", 0, "CAF"],
  [".snd", 0, "AU"],
  ["0&²u\x8ef\xcf\x11", 0, "WMA/ASF"],
  ["wvpk", 0, "WavPack"],
  ["MAC ", 0, "Monkey's Audio"],
  ["FLV\x01", 0, "FLV"],
  ["MThd", 0, "MIDI"],
  ["DSD ", 0, "DSD"],
  ["riff", 0, "Wave64"],
  ["RIFX", 0, "WAV of big-endian samples (RIFX)"],
  ["\x0bw", 0, "AC-3"],
];

/**
 * Tells a file by its marks alone; undefined when it has none that is known. MPEG audio has no mark
 * but a tag: a frame header counts when its fields are legal.
 *
 * @param head the first 64 bytes, or more; of a file with a tag all that tells FLAC from MP3
 */
export function soundKind(head: Uint8Array): SoundKind | undefined {
  const text = Buffer.from(head.subarray(0, 64)).toString("latin1");
  if (isWav(head)) return "wav";
  if (text.startsWith("fLaC")) return "flac";
  if (text.startsWith("OggS")) {
    return ((head[5] ?? 0) & FLAG_FIRST) === 0 ? "ogg-part" : "ogg";
  }
  if (text.startsWith("\x1a\x45\xdf\xa3")) return "webm";
  if (text.startsWith(CLUSTER)) return "webm-part";
  const refused = REFUSED.find(([mark, at]) => text.startsWith(mark, at));
  if (refused !== undefined) return { refused: refused[2] };
  if (text.startsWith("ID3")) return isFlacAt(head, afterId3Tags(head)) ? "flac" : "mp3";
  return mpegKind(head);
}

/** Some programs put the tag of MP3 files before FLAC. */
function isFlacAt(bytes: Uint8Array, at: number): boolean {
  return Buffer.from(bytes.subarray(at, at + 4)).toString("latin1") === "fLaC";
}

function mpegKind(head: Uint8Array): SoundKind | undefined {
  const [first = 0, second = 0, third = 0] = head;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  if ((second & 0xf6) === 0xf0) return { refused: "AAC" };
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const bitRate = third >> 4;
  const sampleRate = (third >> 2) & 3;
  if (version === 1 || layer === 0 || bitRate === 0 || bitRate === 15 || sampleRate === 3) {
    return undefined;
  }
  return layer === 3 ? { refused: "MPEG audio layer I" } : "mp3";
}
