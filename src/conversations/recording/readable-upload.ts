import { rm } from "node:fs/promises";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { MOST_RECORDINGS } from "../../base/codecs/joined-recordings.ts";
import { type SoundKind, soundKind } from "../../base/codecs/sound-kinds.ts";
import { isText } from "../../base/decoder/text-file.ts";
import { AppError, isAppError } from "../../base/errors.ts";
import type { Upload } from "../../rest/route.ts";
import { otherFile } from "../../wire/other-files.ts";
import {
  type AudioContainer,
  furtherStarts,
  type InspectOptions,
  inspectAudio,
  readHead,
  refusalOfOther,
  unsupported,
} from "./audio-container.ts";
import type { ConvertedFile, FileConverter } from "./audio-files/file-converter.ts";

interface ReadableOptions extends InspectOptions {
  converter: Pick<FileConverter, "convert" | "isAvailable">;
  /** Longest sound that is taken, seconds. */
  seconds: number;
  signal: AbortSignal;
}

/** An upload that can be stored and read as it is. */
export interface ReadableUpload {
  upload: Pick<Upload, "content" | "bytes" | "sha256">;
  audio: AudioContainer;
  /** What is stored is not what was sent, but its sound. */
  isDecoded?: true;
  /** To be called when it was stored, or is not wanted any more. */
  release(): Promise<void>;
}

/** Marks of files whose sound no decoder has, or has it wrong: FFmpeg takes RIFX as little-endian. */
const UNDECODED = /^(MIDI|DSD|WAV of big-endian samples \(RIFX\))$/;
const MAY_BE_SOUND = /^(audio|video)\/|^application\/(octet-stream|ogg|mp4)/;

/**
 * Checks an upload as `inspectAudio` does; what our own readers do not take is decoded to WAV first.
 * Throws what `inspectAudio` throws, and what `FileConverter.convert` throws.
 */
export async function readableUpload(
  upload: Upload,
  options: ReadableOptions,
): Promise<ReadableUpload> {
  const head = await readHead(upload.content);
  const inspected = await inspectAudio(upload, head, options).catch((refusal: unknown) => {
    const kind = convertibleKind(upload, head, refusal);
    if (kind === undefined) throw refusal;
    if (!options.converter.isAvailable) throw withoutDecoder(refusal as AppError);
    return convert(upload, options, kind, refusal as AppError);
  });
  if ("path" in inspected) return converted(upload, inspected);
  const { starts, ...audio } = inspected;
  if (starts !== undefined) return joinedUpload(upload, options, audio, starts);
  return { upload, audio, release: async () => {} };
}

/** Refusals of our own readers after which the decoder is asked. */
const CONVERTIBLE = ["unsupported_media_type", "not_audio", "payload_too_large"] as const;

/** Types under which the parts of a stream come, which may begin with any bytes. */
const PARTS = /^(audio|video)\/(webm|ogg)\b/;

/**
 * Why an upload is refused by its first bytes, before the rest of it is sent: it is no audio, or of
 * a format that nothing here decodes. Undefined where it takes the whole file to tell.
 */
export function refusalByHead(
  head: Uint8Array,
  mediaType: string,
  isDecoderAvailable: boolean,
): AppError | undefined {
  if (PARTS.test(mediaType) || /^audio\/pcm\b/.test(mediaType)) return undefined;
  const kind = soundKind(head);
  if (kind === undefined) return refusalOfOther(head);
  if (typeof kind === "string") return undefined;
  if (UNDECODED.test(kind.refused)) return unsupported(kind.refused);
  return isDecoderAvailable ? undefined : withoutDecoder(unsupported(kind.refused));
}

/** Several recordings in one file: all of them, one after the other. */
async function joinedUpload(
  upload: Upload,
  { converter, ...order }: ReadableOptions,
  { durationSeconds }: AudioContainer,
  starts: readonly number[],
): Promise<ReadableUpload> {
  if (converter.isAvailable && starts.length < MOST_RECORDINGS) {
    return converted(upload, await converter.convert(upload.content, order, starts));
  }
  const refusal = tooMany(starts, `after ${durationSeconds.toFixed(1)} s (byte ${starts[0]})`);
  throw converter.isAvailable ? refusal : withoutDecoder(refusal);
}

function tooMany(starts: readonly number[], second: string): AppError {
  const message = `The file holds ${starts.length + 1} recordings one after the other or more, the second ${second}: send them apart.`;
  return new AppError("not_audio", message);
}

/** It keeps the digest of what was sent: decoded again, by another decoder, it is the same upload. */
function converted({ sha256 }: Upload, file: ConvertedFile): ReadableUpload {
  const { path, bytes, frames, sampleRate, channels } = file;
  const shape = { frames, sampleRate, channels, durationSeconds: frames / SESSION_RATE };
  return {
    upload: { content: { kind: "file", path }, bytes, sha256 },
    audio: { mediaType: "audio/wav", ...shape },
    isDecoded: true,
    release: () => rm(path, { force: true }),
  };
}

/** What the refused upload may be all the same, for a sentence; undefined for what is no sound. */
function convertibleKind(upload: Upload, head: Uint8Array, refusal: unknown): string | undefined {
  const isRefused = CONVERTIBLE.some((code) => isAppError(refusal, code));
  if (!isRefused || upload.bytes === 0 || /^audio\/pcm\b/.test(upload.mediaType)) return undefined;
  const kind = soundKind(head);
  if (kind === "ogg-part" || kind === "webm-part") return undefined;
  const isOther = isText(head) || otherFile(head) !== undefined;
  if (kind === undefined && (!MAY_BE_SOUND.test(upload.mediaType) || isOther)) return undefined;
  const name = nameOf(kind);
  return UNDECODED.test(name) ? undefined : name;
}

function nameOf(kind: SoundKind | undefined): string {
  return typeof kind === "object" ? kind.refused : (kind?.toUpperCase() ?? "");
}

/** Of what has no mark at all the first refusal says more than the decoder's. */
async function convert(
  { content }: Upload,
  { converter, ...order }: ReadableOptions,
  kind: string,
  refusal: AppError,
): Promise<ConvertedFile> {
  // What has no mark is not looked through for others.
  const starts = kind === "" ? [] : await furtherStarts(content, order);
  if (starts.length >= MOST_RECORDINGS) throw tooMany(starts, `from byte ${starts[0]} on`);
  try {
    return await converter.convert(content, order, starts);
  } catch (error) {
    if (!isAppError(error, "not_audio")) throw error;
    if (kind === "") throw refusal;
    throw new AppError("not_audio", `The file looks like ${kind}. ${error.message}`);
  }
}

function withoutDecoder(refusal: AppError): AppError {
  const added = refusal.code === "payload_too_large" ? "one" : "others";
  const message = `${refusal.message} The operator can add ${added}: by the optional package @ffmpeg/core, which the usual installation brings, or FFmpeg.`;
  return new AppError(refusal.code, message);
}
