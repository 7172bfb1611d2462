import { open } from "node:fs/promises";
import { markedContainer } from "../../base/audio/container-marks.ts";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../base/audio/wav.ts";
import { type SoundKind, soundKind } from "../../base/codecs/sound-kinds.ts";
import { READABLE_FILES, toPartMediaType } from "../../base/codecs/sound-types.ts";
import { streamBeginning } from "../../base/codecs/stream-beginning.ts";
import { isText } from "../../base/decoder/text-file.ts";
import { AppError, isAppError } from "../../base/errors.ts";
import type { UploadContent } from "../../rest/route.ts";
import { otherFile } from "../../wire/other-files.ts";
import type { PartBefore } from "../transcript/audio-parts-store.ts";
import type { NewChunk } from "./chunk-store.ts";
import type { Sounds } from "./sounds.ts";

/**
 * Most bytes of a compressed file that are read at once, in a thread of this process: six of those
 * may be read at the same time. A larger one is decoded by a process of its own, with its own limits.
 */
const MOST_READ_BYTES = 256 * 1024 * 1024;

/** The properties of an uploaded file that are checked before it is stored. */
export interface AudioContainer {
  /** The media type under which workers read it. */
  mediaType: string;
  /** Number of frames; a frame holds one sample of each channel. */
  frames: number;
  sampleRate: number;
  /** One where they are not known yet. */
  channels: number;
  durationSeconds: number;
  /** Where further recordings begin behind what is measured, bytes; set for a file of several. */
  starts?: readonly number[];
  /** Set for a file of a stream that may be cut into several; see `NewChunk`. */
  part?: NonNullable<NewChunk["part"]>;
}

type StreamKind = "ogg" | "webm";

interface UploadedFile {
  content: UploadContent;
  bytes: number;
  mediaType: string;
}

/** For people who send something else. */
export const SUPPORTED_AUDIO = `Send ${READABLE_FILES}, or raw PCM as audio/pcm;rate=16000;channels=1;encoding=s16le.`;

/** For people who send packets without a file around them: nothing in them tells where each ends. */
export const RAW_OPUS =
  "Opus packets without a file around them are taken by the device's stream alone (GET /devices/{device_id}/stream, Configure with encoding opus).";

/** Types of files that are read; a file without their marks is none of them. */
const KNOWN_TYPES =
  /^(audio\/((x-|vnd\.)?wave?|mpeg|mp3|(x-)?flac|ogg|opus|vorbis|webm)|video\/webm)$/;

export interface InspectOptions {
  /** The account whose upload it is. */
  accountId: string;
  sounds: Pick<Sounds, "measure" | "starts">;
  /** What a part of a stream would follow; absent where none is taken. */
  before?: () => Promise<PartBefore>;
  /** Ends the reading of its bytes. */
  signal?: AbortSignal;
}

/** WAV files may carry other chunks before their samples; headers longer than this are refused. */
const HEAD_BYTES = 256 * 1024;
const READ_MIB = MOST_READ_BYTES / (1024 * 1024);
/** Less may be a few bytes of a packet that look like letters. */
const LEAST_TEXT = 64;
/** A shorter rest behind the samples of a WAV file is no other recording. */
const LEAST_WAV_BYTES = 44;

/** The first bytes of an upload, 256 KiB at most. */
export async function readHead(content: UploadContent): Promise<Uint8Array> {
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

function toContainer(mediaType: string, format: PcmFormat, frames: number): AudioContainer {
  const { sampleRate, channels } = format;
  return { mediaType, frames, sampleRate, channels, durationSeconds: frames / sampleRate };
}

async function wavContainer(
  head: Uint8Array,
  file: UploadedFile,
  options: InspectOptions,
): Promise<AudioContainer> {
  const wav = parseWavHeader(head, file.bytes);
  if (isAudioFormatError(wav)) {
    const hint = wav.code === "unsupported_media_type" ? ` ${SUPPORTED_AUDIO}` : "";
    throw new AppError(wav.code, `${wav.error}${hint}`);
  }
  const container = toContainer("audio/wav", wav, wav.frames);
  const isFollowed = file.bytes - wav.dataOffset - wav.dataLength > LEAST_WAV_BYTES;
  return isFollowed ? withStarts(container, file, options) : container;
}

async function withStarts(
  container: AudioContainer,
  { content }: UploadedFile,
  options: InspectOptions,
): Promise<AudioContainer> {
  const starts = await furtherStarts(content, options);
  return starts.length === 0 ? container : { ...container, starts };
}

/** Where further recordings begin in a file, bytes; see `recordingStarts`. */
export function furtherStarts(
  content: UploadContent,
  { sounds, accountId, signal }: Pick<InspectOptions, "sounds" | "accountId" | "signal">,
): Promise<readonly number[]> {
  return sounds.starts(accountId, sourceOf(content), signal);
}

function sourceOf(content: UploadContent): { data: Uint8Array } | { path: string } {
  return content.kind === "memory" ? { data: content.data } : { path: content.path };
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

/** The error for audio of a format that our own readers do not take. */
export function unsupported(name: string): AppError {
  return new AppError("unsupported_media_type", `${name} is not supported. ${SUPPORTED_AUDIO}`);
}

/** The error for a file that holds no sound, known by its first bytes; undefined for others. */
export function refusalOfOther(head: Uint8Array): AppError | undefined {
  const other = otherFile(head);
  if (other === undefined) return undefined;
  return new AppError("not_audio", `The file is ${other}, not audio. ${SUPPORTED_AUDIO}`);
}

/** The error for a file without a mark: its declared type tells whether another one was meant. */
function refusal(mediaType: string): AppError {
  const type = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "audio/opus") {
    return new AppError("unsupported_media_type", `${RAW_OPUS} ${SUPPORTED_AUDIO}`);
  }
  if (/^(audio|video)\//.test(type) && !KNOWN_TYPES.test(type)) {
    return unsupported(type);
  }
  return new AppError("not_audio", `The file is not audio. ${SUPPORTED_AUDIO}`);
}

/** The error for a compressed file that only a process of its own may take. */
function tooLargeToRead(): AppError {
  const message = `Compressed files of more than ${READ_MIB} MiB are read by a decoder alone: send it in parts, or as WAV.`;
  return new AppError("payload_too_large", message);
}

async function measured(
  file: UploadedFile,
  options: InspectOptions,
  lead?: Uint8Array,
): Promise<AudioContainer> {
  if (file.bytes > MOST_READ_BYTES) throw tooLargeToRead();
  const source = sourceOf(file.content);
  const sound = await options.sounds.measure(
    options.accountId,
    lead === undefined ? source : { ...source, lead },
    options.signal,
  );
  if ("error" in sound) throw new AppError(sound.code, `${sound.error} ${SUPPORTED_AUDIO}`);
  const { mediaType, frames, sampleRate, channels, part } = sound;
  const container = {
    mediaType: lead === undefined ? mediaType : toPartMediaType(mediaType),
    frames,
    sampleRate,
    channels,
    durationSeconds: frames / sampleRate,
    ...(part && { part }),
  };
  return sound.isJoined ? withStarts(container, file, options) : container;
}

/**
 * A part of a stream that recorders send as it grows, cut anywhere, also into parts of no bytes:
 * its beginning, or what continues the chunk before. Is that one not there yet, the part is
 * measured when it came. Undefined for what is none.
 */
async function partContainer(
  file: UploadedFile,
  { head, kind }: { head: Uint8Array; kind: SoundKind | undefined },
  options: InspectOptions,
): Promise<AudioContainer | undefined> {
  if (options.before === undefined) return undefined;
  if (kind === "webm" || kind === "ogg") {
    return streamBeginning(head) && beginningOf(kind, head);
  }
  const stream = streamOf(kind, file.mediaType);
  if (stream === undefined && (kind !== undefined || isOther(head))) return undefined;
  const before = await options.before();
  if (before.kind === "lead") return continuation(file, before.lead, stream, options);
  if (before.kind === "missing") return stream && unmeasured(stream);
  const beginning = streamBeginning(head) ?? (file.bytes === 0 ? stream : undefined);
  return beginning && beginningOf(beginning, head);
}

/** Known to be no part of a stream: a document, or text so long that it is no accident. */
function isOther(head: Uint8Array): boolean {
  return otherFile(head) !== undefined || (head.byteLength >= LEAST_TEXT && isText(head));
}

/** An untyped part that does not continue the stream is something else. */
async function continuation(
  file: UploadedFile,
  lead: Uint8Array,
  stream: StreamKind | undefined,
  options: InspectOptions,
): Promise<AudioContainer | undefined> {
  const part = measured(file, options, lead);
  if (stream !== undefined || file.bytes === 0) return part;
  return part.catch((error: unknown) => {
    if (isAppError(error, "not_audio") || isAppError(error, "unsupported_media_type"))
      return undefined;
    throw error;
  });
}

/** A file without a mark at its beginning: the MP3 behind something else that it may be. */
async function unmarked(
  file: UploadedFile,
  head: Uint8Array,
  options: InspectOptions,
): Promise<AudioContainer> {
  const other = refusalOfOther(head);
  if (other !== undefined) throw other;
  return measured(file, options).catch((error: unknown) => {
    const isNone = isAppError(error, "not_audio") || isAppError(error, "payload_too_large");
    throw isNone ? refusal(file.mediaType) : error;
  });
}

const UNMEASURED = { frames: 0, sampleRate: SESSION_RATE, channels: 1, durationSeconds: 0 };

function unmeasured(stream: StreamKind): AudioContainer {
  const mediaType = toPartMediaType(`audio/${stream};codecs=opus`);
  return { mediaType, ...UNMEASURED, part: {} };
}

function beginningOf(stream: StreamKind, head: Uint8Array): AudioContainer {
  const part = { head, carry: new Uint8Array(0) };
  const mediaType = `audio/${stream};codecs=opus`;
  return { mediaType, ...UNMEASURED, part };
}

/** The stream that a file may continue, by its mark or else by its declared type. */
function streamOf(kind: SoundKind | undefined, mediaType: string): StreamKind | undefined {
  if (kind === "ogg-part") return "ogg";
  if (kind === "webm-part") return "webm";
  if (kind !== undefined && typeof kind !== "object" && kind !== "mp3") return undefined;
  const [, name] = /^(?:audio|video)\/(ogg|webm)\s*(?:;|$)/.exec(mediaType.trim()) ?? [];
  return name === "ogg" || name === "webm" ? name : undefined;
}

/**
 * Checks an upload. Its bytes decide; the declared type counts for raw PCM alone, and to tell which
 * sentence helps. Of WAV and PCM only the head of the file is read; other files are measured by `sounds`.
 * When a header states a wrong length, the frames that are really there count.
 *
 * Throws `not_audio` (422) for a file that is no audio, is empty or holds no frame,
 * `unsupported_media_type` (415) for audio of another format, and `payload_too_large` (413) for a
 * compressed file of more than `MOST_READ_BYTES`.
 *
 * @param head its first bytes, as `readHead` gives them
 */
export async function inspectAudio(
  file: UploadedFile,
  head: Uint8Array,
  options: InspectOptions,
): Promise<AudioContainer> {
  const kind = soundKind(head);
  if (kind === "wav") return wavContainer(head, file, options);
  if (/^audio\/pcm\s*(;|$)/.test(file.mediaType)) {
    assertBare(head);
    return pcmContainer(file.mediaType, file.bytes);
  }
  const part = await partContainer(file, { head, kind }, options);
  if (part !== undefined) return part;
  if (file.bytes === 0) throw new AppError("not_audio", "The file is empty: it holds no audio.");
  if (kind === "ogg-part" || kind === "webm-part") {
    const message =
      "This is a later part of a recording: the part with its beginning has to be in the session, with the chunk_sequence before it.";
    throw new AppError("not_audio", message);
  }
  if (kind === undefined) return unmarked(file, head, options);
  if (typeof kind === "object") throw unsupported(kind.refused);
  return measured(file, options);
}
