import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeWave, parseWave } from "../../src/cli/device/wave-file.ts";

/** Programs that make files; all are packages of Debian. */
export const PROGRAMS = ["ffmpeg", "sox", "flac", "flite", "espeak-ng"] as const;
export type Program = (typeof PROGRAMS)[number];

/**
 * What a file shall come to: read, with the words of the source or at least its sound, and with a
 * length between two, s (by default that of the source); or refused with a sentence.
 */
export type Expected =
  | { readonly read: "words" | "sound"; readonly seconds?: readonly [least: number, most: number] }
  | { readonly refused: RegExp };

/** A file to be made, and how it is sent. */
export interface FormatFile {
  readonly name: string;
  readonly expected: Expected;
  /** The declared type; it tells nothing by default, as of a file without an extension. */
  readonly mediaType?: string;
  readonly programs: readonly Program[];
  make(shop: Workshop): Buffer;
}

/** Runs the programs in a folder that holds `base.wav`. */
export class Workshop {
  readonly folder: string;
  /** Length of `base.wav`, s. */
  readonly seconds: number;

  constructor(folder: string, seconds: number) {
    this.folder = folder;
    this.seconds = seconds;
  }

  base(): Buffer {
    return readFileSync(join(this.folder, "base.wav"));
  }

  run(program: Program, args: readonly string[]): Buffer {
    return execFileSync(program, args, {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 60_000,
      maxBuffer: 256 * 1024 * 1024,
    });
  }

  /** Runs a program that writes to a file of this name, and reads that. */
  made(program: Program, output: string, args: readonly string[]): Buffer {
    this.run(program, args);
    return readFileSync(join(this.folder, output));
  }
}

const WORDS: Expected = { read: "words" };
const SOUND: Expected = { read: "sound" };

function refused(pattern: RegExp): Expected {
  return { refused: pattern };
}

/** `base.wav` through ffmpeg; `options` as on a command line, the extension gives the container. */
function ffmpeg(name: string, extension: string, options: string, expected = WORDS): FormatFile {
  const output = `${name.replaceAll(/\W+/g, "-")}.${extension}`;
  const args = ["-v", "error", "-y", "-i", "base.wav", ...options.split(" ").filter(Boolean)];
  return {
    name,
    expected,
    programs: ["ffmpeg"],
    make: (shop) => shop.made("ffmpeg", output, [...args, output]),
  };
}

function sox(name: string, extension: string, options: string, expected = WORDS): FormatFile {
  const output = `${name.replaceAll(/\W+/g, "-")}.${extension}`;
  const [format = "", effects = ""] = options.split("|");
  const words = (text: string) => text.split(" ").filter(Boolean);
  return {
    name,
    expected,
    programs: ["sox"],
    make: (shop) =>
      shop.made("sox", output, ["-R", "base.wav", ...words(format), output, ...words(effects)]),
  };
}

/** Another file with its bytes changed. */
function changed(
  name: string,
  file: FormatFile,
  change: (bytes: Buffer) => Buffer,
  more: Partial<FormatFile> = {},
): FormatFile {
  return { ...file, name, make: (shop) => change(file.make(shop)), ...more };
}

function plain(name: string, bytes: Buffer, expected: Expected, mediaType?: string): FormatFile {
  return { name, expected, programs: [], make: () => bytes, ...(mediaType && { mediaType }) };
}

/** A file of the test's own that says what `base.wav` says: no program of Debian's writes such ones. */
function kept(name: string, file: string, expected: Expected): FormatFile {
  const place = new URL(`../fixtures/sounds/${file}`, import.meta.url);
  return { name, expected, programs: [], make: () => readFileSync(place) };
}

const firstPart = (share: number) => (bytes: Buffer) => bytes.subarray(0, bytes.length * share);
const PART: Expected = { read: "sound", seconds: [4, 6] };
/** All but the first frame or two. */
const PARTLY: Expected = { read: "words", seconds: [9.9, 10.2] };
/** Containers that keep no length give what encoders put before and behind as well. */
const WIDER: Expected = { read: "words", seconds: [9.9, 10.4] };
const TWICE = { expected: { read: "sound", seconds: [20.1, 20.5] } as const };
const twice = (bytes: Buffer) => Buffer.concat([bytes, bytes]);

function withFrameSize(size: number) {
  return (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt16LE(size, 32);
    return copy;
  };
}

/** A second channel with each sample of the first upside down. */
function withOppositeSide(bytes: Buffer): Buffer {
  const wave = parseWave(bytes);
  if (wave === undefined) throw new Error("no WAV");
  const { data } = wave;
  const both = Buffer.alloc(2 * data.length);
  for (let at = 0; at < data.length; at += 2) {
    const sample = data.readInt16LE(at);
    both.writeInt16LE(sample, 2 * at);
    both.writeInt16LE(Math.min(32_767, -sample), 2 * at + 2);
  }
  return encodeWave({ ...wave, data: both, channels: 2 });
}

/** Shine never writes the last 40 ms that it holds back. */
const SHORT: Expected = { read: "words", seconds: [10.04, 10.2] };

const flac16 = ffmpeg("FLAC 16 kHz", "flac", "");
const mp3 = ffmpeg("MP3 44.1 kHz stereo 128k", "mp3", "-ar 44100 -ac 2 -b:a 128k");
const opus = ffmpeg("Ogg Opus 48 kHz 24k", "ogg", "-c:a libopus -b:a 24k");
const vorbis = ffmpeg("Ogg Vorbis 44.1 kHz stereo", "ogg", "-c:a libvorbis -ar 44100 -ac 2");
const webm = ffmpeg("WebM Opus", "webm", "-c:a libopus -b:a 32k");
const matroskaAac = ffmpeg("Matroska AAC", "mka", "-c:a aac");
const m4a = ffmpeg("M4A AAC", "m4a", "-c:a aac");
const wav = ffmpeg("WAV 16 bit", "wav", "");

const WAVS: readonly FormatFile[] = [
  wav,
  ffmpeg("WAV 8 bit 8 kHz", "wav", "-c:a pcm_u8 -ar 8000", SOUND),
  ffmpeg("WAV 24 bit 48 kHz stereo", "wav", "-c:a pcm_s24le -ar 48000 -ac 2"),
  ffmpeg("WAV 32 bit 96 kHz", "wav", "-c:a pcm_s32le -ar 96000"),
  ffmpeg("WAV float 44.1 kHz", "wav", "-c:a pcm_f32le -ar 44100"),
  ffmpeg("WAV double 22.05 kHz", "wav", "-c:a pcm_f64le -ar 22050"),
  ffmpeg("WAV A-law 8 kHz", "wav", "-c:a pcm_alaw -ar 8000", SOUND),
  ffmpeg("WAV mu-law 16 kHz stereo", "wav", "-c:a pcm_mulaw -ac 2"),
  ffmpeg("WAV 24 bit 6 channels", "wav", "-c:a pcm_s24le -ar 48000 -ac 6", SOUND),
  ffmpeg("WAV 8 channels 32 kHz", "wav", "-ar 32000 -ac 8", SOUND),
  ffmpeg("WAV RF64", "wav", "-rf64 always"),
  sox("WAV 11.025 kHz", "wav", "-r 11025", SOUND),
  sox("WAV 12 kHz 3 channels", "wav", "-r 12000 -c 3", SOUND),
  changed("WAV truncated", wav, (bytes) => bytes.subarray(0, 44 + 2 * 16_000 * 4), {
    expected: { read: "sound", seconds: [3.9, 4] },
  }),
  ffmpeg("WAV to a pipe", "wav", "-f wav pipe:1"),
  ffmpeg("WAV IMA ADPCM", "wav", "-c:a adpcm_ima_wav", WIDER),
  ffmpeg("WAV with MP3", "wav", "-c:a libmp3lame"),
  ffmpeg("WAV 4 kHz", "wav", "-ar 4000", SOUND),
  ffmpeg("WAV 192 kHz", "wav", "-ar 192000"),
  sox("WAV 12 channels", "wav", "-c 12", refused(/cannot be decoded/)),
  sox("WAV big endian", "wav", "-B", refused(/RIFX/)),
  changed("WAV with a wrong frame size", wav, withFrameSize(4)),
  changed("WAV twice in one file", wav, twice, TWICE),
  changed("WAV of one side upside down", wav, withOppositeSide),
];

const FLACS: readonly FormatFile[] = [
  flac16,
  ffmpeg("FLAC 24 bit 96 kHz stereo", "flac", "-sample_fmt s32 -ar 96000 -ac 2"),
  ffmpeg("FLAC 8 channels", "flac", "-ar 48000 -ac 8", SOUND),
  sox("FLAC 8 bit 8 kHz", "flac", "-b 8 -r 8000", SOUND),
  {
    name: "FLAC best, by flac",
    expected: WORDS,
    programs: ["flac"],
    make: (shop) =>
      shop.made("flac", "best.flac", ["-s", "-f", "-8", "-o", "best.flac", "base.wav"]),
  },
  changed("FLAC behind an ID3 tag", flac16, (bytes) => Buffer.concat([id3Tag(), bytes])),
  changed("FLAC truncated", flac16, firstPart(0.5), { expected: PART }),
  ffmpeg("Ogg FLAC", "ogg", "-c:a flac"),
];

const MPEGS: readonly FormatFile[] = [
  mp3,
  ffmpeg("MP3 VBR 22.05 kHz", "mp3", "-ar 22050 -q:a 6"),
  ffmpeg("MP3 8 kHz 16k", "mp3", "-ar 8000 -b:a 16k", SOUND),
  ffmpeg("MP3 48 kHz 320k", "mp3", "-ar 48000 -b:a 320k"),
  ffmpeg("MP3 with tags", "mp3", "-b:a 64k -id3v2_version 3 -write_id3v1 1 -metadata title=Talk"),
  ffmpeg("MP3 without Xing frame", "mp3", "-b:a 64k -write_xing 0"),
  ffmpeg("MP3 by shine", "mp3", "-c:a libshine -ar 44100 -b:a 96k", SHORT),
  ffmpeg("MPEG layer II 48 kHz", "mp2", "-c:a mp2 -ar 48000"),
  ffmpeg("MPEG layer II 16 kHz", "mp2", "-c:a mp2"),
  changed("MP3 truncated", mp3, firstPart(0.5), { expected: PART }),
  changed("MP3 without its beginning", mp3, (bytes) => bytes.subarray(1_000), {
    expected: PARTLY,
  }),
  changed("MP3 behind zeros", mp3, (bytes) => Buffer.concat([Buffer.alloc(2_048), bytes])),
  changed("MP3 behind junk", mp3, (bytes) =>
    Buffer.concat([Buffer.alloc(500, "\x07junk\xfe"), bytes]),
  ),
  changed("MP3 twice in one file", mp3, twice, TWICE),
  changed("MP3 named WAV", mp3, (bytes) => bytes, { mediaType: "audio/wav" }),
];

const OGGS: readonly FormatFile[] = [
  opus,
  ffmpeg("Ogg Opus stereo 96k", "ogg", "-c:a libopus -ac 2 -b:a 96k"),
  ffmpeg("Ogg Opus 6 channels", "ogg", "-c:a libopus -ac 6", SOUND),
  ffmpeg("Ogg Opus 60 ms frames", "ogg", "-c:a libopus -frame_duration 60 -b:a 24k"),
  ffmpeg("Ogg Opus 2.5 ms frames", "ogg", "-c:a libopus -frame_duration 2.5 -b:a 64k"),
  ffmpeg("Ogg Opus for voice 8k", "ogg", "-c:a libopus -application voip -b:a 8k", SOUND),
  vorbis,
  sox("Ogg Vorbis 8 kHz by sox", "ogg", "-r 8000", SOUND),
  ffmpeg("Ogg Vorbis 6 channels", "ogg", "-c:a libvorbis -ar 48000 -ac 6", SOUND),
  changed("Ogg Opus truncated", opus, firstPart(0.5), { expected: PART }),
  changed("Ogg Vorbis truncated", vorbis, firstPart(0.5), {
    expected: PART,
  }),
  changed("Ogg Opus chained", opus, (bytes) => Buffer.concat([bytes, bytes]), {
    expected: { read: "sound", seconds: [20.1, 20.3] },
  }),
  changed("Ogg Vorbis chained", vorbis, twice, TWICE),
  ffmpeg("Ogg Speex", "ogg", "-c:a libspeex"),
  changed("Ogg Opus named MP3", opus, (bytes) => bytes, { mediaType: "audio/mpeg" }),
];

const WEBMS: readonly FormatFile[] = [
  webm,
  ffmpeg("WebM Opus live", "webm", "-c:a libopus -f webm -live 1"),
  ffmpeg("Matroska Opus", "mka", "-c:a libopus -b:a 32k"),
  ffmpeg("WebM with video", "webm", "-f lavfi -i testsrc=d=2:s=64x48:r=5 -c:v libvpx -c:a libopus"),
  ffmpeg("WebM Vorbis", "webm", "-c:a libvorbis"),
  matroskaAac,
  changed("Matroska AAC twice in one file", matroskaAac, twice, TWICE),
  changed("WebM twice in one file", webm, twice, TWICE),
  changed("WebM truncated", webm, firstPart(0.5), { expected: PART }),
];

const OTHERS: readonly FormatFile[] = [
  m4a,
  changed("M4A twice in one file", m4a, twice, TWICE),
  ffmpeg("M4A AAC, index in front", "m4a", "-c:a aac -movflags +faststart"),
  ffmpeg("M4A ALAC", "m4a", "-c:a alac"),
  ffmpeg("MP4 in fragments", "mp4", "-c:a aac -movflags frag_keyframe+empty_moov"),
  ffmpeg("MP4 with video", "mp4", "-f lavfi -i testsrc=d=2:s=64x48:r=5 -c:v mpeg4 -c:a aac"),
  ffmpeg("MOV", "mov", "-c:a aac"),
  ffmpeg("3GP AAC", "3gp", "-c:a aac"),
  ffmpeg("AAC", "aac", "-c:a aac", WIDER),
  ffmpeg("AMR narrow band", "amr", "-c:a libopencore_amrnb -ar 8000 -b:a 12.2k", SOUND),
  ffmpeg("AMR wide band", "amr", "-c:a libvo_amrwbenc -b:a 23.85k"),
  ffmpeg("3GP AMR", "3gp", "-c:a libopencore_amrnb -ar 8000 -b:a 12.2k", SOUND),
  kept("HE-AAC v1", "conversation-he-aac.m4a", WIDER),
  kept("HE-AAC v2", "conversation-he-aac-v2.m4a", WIDER),
  kept("HE-AAC v1 without a container", "conversation-he-aac.aac", WIDER),
  sox("AIFF", "aiff", ""),
  ffmpeg("AIFF-C", "aiff", "-c:a pcm_alaw", SOUND),
  sox("AU", "au", ""),
  ffmpeg("CAF", "caf", ""),
  ffmpeg("CAF ALAC", "caf", "-c:a alac"),
  ffmpeg("WMA", "wma", "-c:a wmav2", WIDER),
  ffmpeg("WavPack", "wv", "-c:a wavpack"),
  ffmpeg("AC-3", "ac3", "-c:a ac3 -ar 48000", WIDER),
  ffmpeg("True Audio", "tta", "-c:a tta", { read: "sound", seconds: [0, 12] }),
  sox("GSM", "gsm", "-r 8000", SOUND),
  sox("Wave64", "w64", ""),
  plain("a PDF", Buffer.from("%PDF-1.7\n".padEnd(4_096)), refused(/a PDF document/)),
  plain(
    "text named MP3",
    Buffer.from("To be or not to be, that is it."),
    refused(/not audio/),
    "audio/mpeg",
  ),
  plain("nothing", Buffer.alloc(0), refused(/empty/), "audio/wav"),
  plain("zeros", Buffer.alloc(4_096), refused(/not audio/), "audio/flac"),
];

const SOUNDS: readonly FormatFile[] = [
  sox("WAV 30 dB too low", "wav", "|gain -30"),
  sox("WAV overdriven 20 dB", "wav", "|gain 20", SOUND),
  ffmpeg(
    "Opus with noise 20 dB below",
    "ogg",
    "-c:a libopus -b:a 32k -af aeval=val(0)+0.01*(random(0)-0.5)",
  ),
  sox("FLAC silence", "flac", "|vol 0", SOUND),
  ffmpeg("WAV 50 ms", "wav", "-t 0.05", { read: "sound", seconds: [0.04, 0.07] }),
  ffmpeg("Ogg Opus 50 ms", "ogg", "-t 0.05 -c:a libopus", { read: "sound", seconds: [0.04, 0.07] }),
  {
    name: "WAV by flite",
    expected: { read: "sound", seconds: [0.8, 2] },
    programs: ["flite"],
    make: (shop) => shop.made("flite", "flite.wav", ["-t", "hello everyone", "-o", "flite.wav"]),
  },
  {
    name: "WAV by espeak-ng to a pipe",
    expected: { read: "sound", seconds: [0.8, 2] },
    programs: ["espeak-ng"],
    make: (shop) => shop.run("espeak-ng", ["--stdout", "hello everyone"]),
  },
];

/** An ID3v2.3 tag without frames, 64 bytes of padding. */
function id3Tag(): Buffer {
  return Buffer.concat([Buffer.from("ID3\x03\0\0\0\0\0\x40", "latin1"), Buffer.alloc(64)]);
}

export const FORMAT_FILES: readonly FormatFile[] = [
  ...WAVS,
  ...FLACS,
  ...MPEGS,
  ...OGGS,
  ...WEBMS,
  ...OTHERS,
  ...SOUNDS,
];
