import { execFileSync } from "node:child_process";
import { encodeWave, type WaveAudio } from "../../src/cli/device/wave-file.ts";

/** What `ffmpeg` writes for each format, at a bit rate that is usual for speech; kbit/s in the name. */
const ENCODERS = {
  wav: { mediaType: "audio/wav", args: ["-f", "wav"] },
  flac: { mediaType: "audio/flac", args: ["-f", "flac"] },
  "mp3-128": mp3("128k"),
  "mp3-48": mp3("48k"),
  "vorbis-48": {
    mediaType: "audio/ogg",
    args: ["-c:a", "libvorbis", "-b:a", "48k", "-f", "ogg"],
  },
  "ogg-opus-32": { mediaType: "audio/ogg", args: [...opus("32k"), "-f", "ogg"] },
  "ogg-opus-16": { mediaType: "audio/ogg", args: [...opus("16k"), "-f", "ogg"] },
  "webm-opus-32": { mediaType: "audio/webm", args: [...opus("32k"), "-f", "webm"] },
} as const satisfies Record<string, { mediaType: string; args: readonly string[] }>;

export type SoundFormat = keyof typeof ENCODERS;

export const SOUND_FORMATS = Object.keys(ENCODERS) as SoundFormat[];

const MOST_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 120_000;

/** As a recorder would have it; a file of phones and browsers has 44.1 or 48 kHz. */
function mp3(rate: string) {
  const args = ["-ar", "44100", "-c:a", "libmp3lame", "-b:a", rate, "-f", "mp3"];
  return { mediaType: "audio/mpeg", args };
}

function opus(rate: string): string[] {
  return ["-ar", "48000", "-c:a", "libopus", "-b:a", rate];
}

export function isSoundFormat(text: string): text is SoundFormat {
  return Object.hasOwn(ENCODERS, text);
}

/** The recording as a whole file of a format, made by Debian's `ffmpeg`. Throws where that is missing. */
export function encodedSound(
  audio: WaveAudio,
  format: SoundFormat,
): { mediaType: string; bytes: Uint8Array<ArrayBuffer> } {
  const { mediaType, args } = ENCODERS[format];
  if (format === "wav") return { mediaType, bytes: encodeWave(audio) };
  const bytes = execFileSync(
    "ffmpeg",
    ["-loglevel", "error", "-f", "wav", "-i", "-", ...args, "-"],
    {
      input: encodeWave(audio),
      maxBuffer: MOST_BYTES,
      timeout: TIMEOUT_MS,
      stdio: ["pipe", "pipe", "ignore"],
    },
  );
  return { mediaType, bytes: new Uint8Array(bytes) };
}
