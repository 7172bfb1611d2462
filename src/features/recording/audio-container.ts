import { open } from "node:fs/promises";
import { markedContainer } from "../../base/audio/container-marks.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../base/audio/wav.ts";
import { AppError } from "../../base/errors.ts";
import type { UploadContent } from "../../rest/route.ts";

/** The properties of an uploaded file that are checked before it is stored. */
export interface AudioContainer {
  /** The media type under which workers read it. */
  mediaType: string;
  /** Number of frames; a frame holds one sample of each channel. */
  frames: number;
  sampleRate: number;
  durationSeconds: number;
}

interface UploadedFile {
  content: UploadContent;
  bytes: number;
  mediaType: string;
}

/** For people who send something else. */
export const SUPPORTED_AUDIO =
  "Send WAV (PCM of 8, 16, 24 or 32 bits or 32-bit float, 8 to 48 kHz, 1 to 8 channels) or raw PCM as audio/pcm;rate=16000;channels=1;encoding=s16le.";

/** WAV files may carry other chunks before their samples; headers longer than this are refused. */
const HEAD_BYTES = 256 * 1024;

async function readHead(content: UploadContent): Promise<Uint8Array> {
  if (content.kind === "memory") return content.data.subarray(0, HEAD_BYTES);
  const file = await open(content.path, "r");
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    let length = 0;
    while (length < HEAD_BYTES) {
      const { bytesRead } = await file.read(buffer, length, HEAD_BYTES - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

function startsWith(head: Uint8Array, text: string, at = 0): boolean {
  return Buffer.from(head.subarray(at, at + text.length)).toString("latin1") === text;
}

/** The name of a known but unsupported audio format, by its first bytes. */
function unsupportedFormat(head: Uint8Array): string | undefined {
  if (startsWith(head, "OggS")) return "Ogg";
  if (startsWith(head, "fLaC")) return "FLAC";
  if (startsWith(head, "ftyp", 4)) return "MP4/M4A";
  if (startsWith(head, "\x1a\x45\xdf\xa3")) return "WebM";
  if (startsWith(head, "FORM") && startsWith(head, "AIF", 8)) return "AIFF";
  if (startsWith(head, "#!AMR")) return "AMR";
  if (startsWith(head, "ID3")) return "MP3";
  return mpegFormat(head);
}

/** MP3 or AAC (ADTS) without a tag: a frame header with every field in its legal range. */
function mpegFormat(head: Uint8Array): string | undefined {
  const [first = 0, second = 0, third = 0] = head;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  if ((second & 0xf6) === 0xf0) return "AAC";
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const bitRate = third >> 4;
  const sampleRate = (third >> 2) & 3;
  if (version === 1 || layer === 0 || bitRate === 0 || bitRate === 15 || sampleRate === 3) {
    return undefined;
  }
  return "MP3";
}

function isWav(head: Uint8Array): boolean {
  return (startsWith(head, "RIFF") || startsWith(head, "RF64")) && startsWith(head, "WAVE", 8);
}

function toContainer(mediaType: string, format: PcmFormat, frames: number): AudioContainer {
  const { sampleRate } = format;
  return { mediaType, frames, sampleRate, durationSeconds: frames / sampleRate };
}

function wavContainer(head: Uint8Array, bytes: number): AudioContainer {
  const wav = parseWavHeader(head, bytes);
  if (isAudioFormatError(wav)) {
    const hint = wav.code === "unsupported_media_type" ? ` ${SUPPORTED_AUDIO}` : "";
    throw new AppError(wav.code, `${wav.error}${hint}`);
  }
  return toContainer("audio/wav", wav, wav.frames);
}

function pcmContainer(mediaType: string, bytes: number): AudioContainer {
  if (!/;\s*rate\s*=/.test(mediaType)) {
    throw new AppError(
      "unsupported_media_type",
      // The media type of a form part comes without its parameters.
      `Raw PCM is sent as a raw body, with its sample rate in the Content-Type. ${SUPPORTED_AUDIO}`,
    );
  }
  const pcm = parsePcmMediaType(mediaType);
  if (isAudioFormatError(pcm)) throw new AppError(pcm.code, `${pcm.error} ${SUPPORTED_AUDIO}`);
  const frames = Math.floor(bytes / bytesPerFrame(pcm));
  if (frames === 0) throw new AppError("not_audio", "The upload holds no whole audio frame.");
  const parameters = `rate=${pcm.sampleRate};channels=${pcm.channels};encoding=${pcm.encoding}`;
  return toContainer(`audio/pcm;${parameters}`, pcm, frames);
}

/** Throws when a file that was declared as raw PCM has a container. */
function assertBare(head: Uint8Array): void {
  const container = markedContainer(head);
  if (container === "none" || container === "more") return;
  throw new AppError(
    "unsupported_media_type",
    `This looks like a file (${container}), not like the raw PCM that its Content-Type says. ${SUPPORTED_AUDIO}`,
  );
}

/**
 * The error for a file that is no WAV: an unsupported format by its bytes or its declared type,
 * else no audio.
 */
function refusal(head: Uint8Array, mediaType: string): AppError {
  const known = unsupportedFormat(head);
  if (known !== undefined) {
    return new AppError(
      "unsupported_media_type",
      `${known} is not supported yet. ${SUPPORTED_AUDIO}`,
    );
  }
  const type = mediaType.split(";")[0]?.trim() ?? "";
  if (/^(audio|video)\//.test(type) && !/^audio\/(x-|vnd\.)?wave?$/.test(type)) {
    return new AppError("unsupported_media_type", `${type} is not supported. ${SUPPORTED_AUDIO}`);
  }
  return new AppError("not_audio", `The file is not audio. ${SUPPORTED_AUDIO}`);
}

/**
 * Checks an upload, reading only the head of the file. Its bytes decide; the declared type counts
 * for raw PCM alone. When a header states a wrong length, the frames that are really there count.
 *
 * Throws `not_audio` (422) for a file that is no audio, is empty or holds no frame, and
 * `unsupported_media_type` (415) for audio of another format.
 */
export async function inspectAudio(file: UploadedFile): Promise<AudioContainer> {
  if (file.bytes === 0) throw new AppError("not_audio", "The file is empty: it holds no audio.");
  const head = await readHead(file.content);
  if (isWav(head)) return wavContainer(head, file.bytes);
  if (/^audio\/pcm\s*(;|$)/.test(file.mediaType)) {
    assertBare(head);
    return pcmContainer(file.mediaType, file.bytes);
  }
  throw refusal(head, file.mediaType);
}
