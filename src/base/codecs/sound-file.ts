import { isOpusPacket, opusPacketSamples } from "../audio/opus-packets.ts";
import { isSupportedRate, SESSION_RATE } from "../audio/sample-rate.ts";
import { type AudioFormatError, MAX_CHANNELS } from "../audio/wav.ts";
import { FLAC_BITS, type FlacAudio, readFlac } from "./flac.ts";
import { findMpegFrames, type MpegAudio } from "./mpeg.ts";
import { oggKinds, readOgg } from "./ogg.ts";
import { isOpusHead, isOpusTags, type OpusHead, readOpusHead } from "./opus-head.ts";
import { soundKind } from "./sound-kinds.ts";
import { isVorbisHead, readVorbis, type VorbisAudio } from "./vorbis.ts";
import { readWebm } from "./webm.ts";

/** Opus tells times at 48 kHz (RFC 7845); its packets are decoded to 16 kHz. */
const OPUS_CLOCK = 48_000;
const CLOCK_RATIO = OPUS_CLOCK / SESSION_RATE;
const LONGEST_HEAD = 64 * 1024;
const NONE = "The file is none of MP3, FLAC, Ogg and WebM.";

/** Packets of Opus with all that a decoder has to know. */
interface OpusAudio {
  head: OpusHead;
  packets: Uint8Array[];
  /** Samples at 16 kHz before the first one that counts. */
  skip: number;
}

/** What is needed to read on where a stream was cut into files. */
export interface StreamPart {
  /** The headers of the stream, which every later part needs before it; absent in a later part. */
  head?: Uint8Array;
  /** What begins in this file and ends in the next one. */
  carry: Uint8Array;
}

/** A file whose sound was found, and measured, without decoding it. */
export type SoundFile = {
  mediaType: string;
  /** Of the decoded samples, Hz; 16 kHz for Opus. */
  sampleRate: number;
  channels: number;
  /** Samples of each channel. */
  frames: number;
  /** Present when further parts of the stream may follow. */
  part?: StreamPart;
} & (
  | { codec: "opus"; audio: OpusAudio }
  | { codec: "vorbis"; audio: VorbisAudio }
  | { codec: "mp3"; audio: MpegAudio }
  | { codec: "flac"; audio: FlacAudio }
);

/**
 * Finds the sound in an MP3, FLAC, Ogg (Opus, Vorbis) or WebM (Opus) file by its bytes alone, and
 * measures it by its frames, packets or granule positions. It takes time in proportion to the
 * file's length, and little memory besides it.
 *
 * @param isPart whether the file is a later part of a stream, with the stream's head before it
 * @returns `not_audio` when the file has no sound that can be read, `unsupported_media_type` when
 *   its sound is of a kind that is not read
 */
export function openSoundFile(bytes: Uint8Array, isPart = false): SoundFile | AudioFormatError {
  const kind = soundKind(bytes);
  const found = fileOf(kind, bytes, isPart);
  if ("error" in found) return found;
  if (found.channels < 1 || found.channels > MAX_CHANNELS) {
    return unsupported(`${found.channels} channels are not supported: send 1 to ${MAX_CHANNELS}.`);
  }
  if (!isSupportedRate(found.sampleRate)) {
    return unsupported(
      `A sample rate of ${found.sampleRate} Hz is not supported: send a usual one from 8000 to 96000.`,
    );
  }
  if (found.frames > 0 || found.part !== undefined) return found;
  return notAudio("The file holds no samples.");
}

function fileOf(
  kind: ReturnType<typeof soundKind>,
  bytes: Uint8Array,
  isPart: boolean,
): SoundFile | AudioFormatError {
  switch (kind) {
    case "mp3":
      return mp3File(bytes);
    case "flac":
      return flacFile(bytes);
    case "ogg":
      return oggFile(bytes, isPart);
    case "webm":
      return webmFile(bytes, isPart);
    case undefined:
      return unmarkedFile(bytes);
    default:
      return notAudio(NONE);
  }
}

/** MP3 that begins in the middle of a frame, or behind zeros or something else. */
function unmarkedFile(bytes: Uint8Array): SoundFile | AudioFormatError {
  const audio = findMpegFrames(bytes);
  return audio?.isLong ? mpegFile(audio) : notAudio(NONE);
}

function mp3File(bytes: Uint8Array): SoundFile | AudioFormatError {
  const audio = findMpegFrames(bytes);
  if (audio === undefined) return notAudio("The MP3 file holds no frames that follow each other.");
  return mpegFile(audio);
}

function mpegFile(audio: MpegAudio): SoundFile {
  const { sampleRate, channels, frames } = audio;
  return { mediaType: "audio/mpeg", sampleRate, channels, frames, codec: "mp3", audio };
}

function flacFile(bytes: Uint8Array): SoundFile | AudioFormatError {
  const audio = readFlac(bytes);
  if (audio === undefined) return notAudio("The FLAC file is damaged, or ends before its samples.");
  const { sampleRate, channels, frames, bitsPerSample } = audio;
  if (!FLAC_BITS.has(bitsPerSample)) {
    return unsupported(`FLAC of ${bitsPerSample} bits is not supported: 16 and 24 bits are.`);
  }
  return { mediaType: "audio/flac", sampleRate, channels, frames, codec: "flac", audio };
}

function oggFile(bytes: Uint8Array, isPart: boolean): SoundFile | AudioFormatError {
  const opus = readOgg(bytes, isOpusHead);
  if (opus !== undefined) return oggOpusFile(bytes, opus, isPart);
  const vorbis = readOgg(bytes, isVorbisHead);
  if (vorbis === undefined) return oggRefusal(bytes);
  if (vorbis.isChained) return unsupported("Ogg Vorbis with several streams is not supported.");
  const audio = readVorbis(vorbis);
  if (audio === undefined) return notAudio("The Ogg Vorbis file ends before its samples begin.");
  const { sampleRate, channels, frames } = audio;
  const mediaType = "audio/ogg;codecs=vorbis";
  return { mediaType, sampleRate, channels, frames, codec: "vorbis", audio };
}

function oggRefusal(bytes: Uint8Array): AudioFormatError {
  const names: Readonly<Record<string, string>> = {
    "\x7fFLA": "FLAC",
    Spee: "Speex",
    "\x80the": "Theora video",
  };
  const kinds = oggKinds(bytes).map((packet) =>
    Buffer.from(packet.subarray(0, 4)).toString("latin1"),
  );
  const name = kinds.map((each) => names[each]).find((each) => each !== undefined);
  if (name === undefined) return notAudio("The Ogg file holds no Opus and no Vorbis stream.");
  return unsupported(`Ogg with ${name} is not supported: Opus and Vorbis are.`);
}

function oggOpusFile(
  bytes: Uint8Array,
  stream: NonNullable<ReturnType<typeof readOgg>>,
  isPart: boolean,
): SoundFile | AudioFormatError {
  const [first, ...others] = stream.packets;
  const head = readOpusHead(first ?? new Uint8Array(0));
  if (head === undefined) return notAudio("The header of the Ogg Opus file is damaged.");
  const packets = others.filter((packet) => !isOpusHead(packet) && !isOpusTags(packet));
  const file = opusFile("audio/ogg;codecs=opus", head, packets, isPart);
  if ("error" in file) return file;
  if (packets.length === 0 && stream.isCutOff) return notAudio("The Ogg file is damaged.");
  const part = partOf(isPart ? undefined : bytes.subarray(0, stream.headEnd), stream.rest);
  // The last page tells how much of its last packet counts.
  const played = samplesAt(packets, OPUS_CLOCK);
  const cut = stream.isEnded && !isPart ? played - (stream.granule ?? played) : 0;
  const isTold = cut > 0 && cut < lastOf(packets);
  const frames = file.frames - (isTold ? Math.floor(cut / CLOCK_RATIO) : 0);
  return { ...file, frames: Math.max(0, frames), ...(!stream.isChained && part) };
}

function webmFile(bytes: Uint8Array, isPart: boolean): SoundFile | AudioFormatError {
  const { codec, head, packets, headEnd, rest, skipped } = readWebm(bytes);
  if (codec === undefined) return notAudio("The WebM file holds no audio track.");
  if (codec !== "Opus") return unsupported(`WebM with ${codec} is not supported: Opus is.`);
  if (head === undefined) return notAudio("The header of the WebM file's audio is damaged.");
  if (packets.length === 0 && skipped > 0) return notAudio("The WebM file is damaged.");
  const file = opusFile("audio/webm;codecs=opus", head, packets, isPart);
  if ("error" in file) return file;
  return { ...file, ...partOf(isPart ? undefined : bytes.subarray(0, headEnd), rest) };
}

function opusFile(
  mediaType: string,
  head: OpusHead,
  packets: Uint8Array[],
  isPart: boolean,
): (SoundFile & { codec: "opus" }) | AudioFormatError {
  const { channels } = head;
  // Packets of several streams have another form, which only a decoder knows.
  if (channels <= 2 && isNoOpus(packets)) return notAudio("Hardly any packet of the file is Opus.");
  const skip = isPart ? 0 : Math.floor(head.preSkip / CLOCK_RATIO);
  const frames = Math.max(0, samplesAt(packets, SESSION_RATE) - skip);
  const audio = { head, packets, skip };
  return { mediaType, sampleRate: SESSION_RATE, channels, frames, codec: "opus", audio };
}

/** Nothing when the head is too long to be kept: then the file is read by itself. */
function partOf(head: Uint8Array | undefined, carry: Uint8Array): { part?: StreamPart } {
  if (head !== undefined && head.byteLength > LONGEST_HEAD) return {};
  return { part: { ...(head && { head: head.slice() }), carry } };
}

function samplesAt(packets: readonly Uint8Array[], rate: number): number {
  return packets.reduce((sum, packet) => sum + opusPacketSamples(packet, rate), 0);
}

function lastOf(packets: readonly Uint8Array[]): number {
  const last = packets.at(-1);
  return last === undefined ? 0 : opusPacketSamples(last, OPUS_CLOCK);
}

/** Whether so few of the packets can be decoded that the bytes are no Opus. */
function isNoOpus(packets: readonly Uint8Array[]): boolean {
  const good = packets.filter((packet) => isOpusPacket(packet)).length;
  return packets.length > 0 && 2 * good < packets.length;
}

function notAudio(error: string): AudioFormatError {
  return { code: "not_audio", error };
}

function unsupported(error: string): AudioFormatError {
  return { code: "unsupported_media_type", error };
}
