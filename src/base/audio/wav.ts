import { isSupportedRate, SESSION_RATE } from "./sample-rate.ts";

/**
 * Sample formats that can be read: linear ones, all little endian, and µ-law and A-law of ITU-T
 * G.711.
 */
export type SampleEncoding =
  | "u8"
  | "s16le"
  | "s24le"
  | "s32le"
  | "f32le"
  | "f64le"
  | "mulaw"
  | "alaw";

export interface PcmFormat {
  encoding: SampleEncoding;
  /** 1 to `MAX_CHANNELS`. */
  channels: number;
  /** Frames per second. */
  sampleRate: number;
  bitsPerSample: number;
}

interface WavFormat extends PcmFormat {
  /** Offset of the first sample, bytes. */
  dataOffset: number;
  /** Length of the whole frames that are present, bytes, whatever the header states. */
  dataLength: number;
  frames: number;
}

/** The reason why bytes cannot be read as audio. */
export interface AudioFormatError {
  code: "not_audio" | "unsupported_media_type";
  error: string;
}

/** Most channels of a recording. */
export const MAX_CHANNELS = 8;

const BITS: Readonly<Record<SampleEncoding, number>> = {
  u8: 8,
  s16le: 16,
  s24le: 24,
  s32le: 32,
  f32le: 32,
  f64le: 64,
  mulaw: 8,
  alaw: 8,
};
const FORMAT_PCM = 1;
const FORMAT_FLOAT = 3;
const FORMAT_ALAW = 6;
const FORMAT_MULAW = 7;
const FORMAT_EXTENSIBLE = 0xfffe;
const SIZE_UNKNOWN = 0xffffffff;
/** The sub-format GUID of WAVE_FORMAT_EXTENSIBLE begins with the plain format tag. */
const SUB_FORMAT_OFFSET = 24;
/** Size of an extensible format chunk, bytes. */
const LONGEST_FORMAT = 40;
/** Forms whose sizes may be beyond 4 GiB; they stand in a chunk of their own (EBU Tech 3306, ITU-R BS.2088). */
const LARGE_FORMS = ["RF64", "BW64"];
/** The chunk's sizes of the form and of the samples. */
const LARGE_SIZES = 16;

/** Whether these are the first bytes of a WAV file: RIFF, RF64 or BW64. */
export function isWav(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const form = tagAt(view, 0);
  return (form === "RIFF" || LARGE_FORMS.includes(form)) && tagAt(view, 8) === "WAVE";
}

/**
 * Reads a WAV header (RIFF, RF64 or BW64) without touching the samples. A data size of 0 or
 * 0xFFFFFFFF that no ds64 chunk tells, or one beyond the end, means: up to the end of the file.
 *
 * @param bytes the file, or its beginning if `totalLength` is given
 */
export function parseWavHeader(
  bytes: Uint8Array,
  totalLength: number = bytes.byteLength,
): WavFormat | AudioFormatError {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength === 0) return notAudio("The file is empty.");
  if (!isWav(bytes)) {
    return notAudio("The file is no WAV audio: it does not begin with a RIFF/WAVE header.");
  }
  const { format, data } = readChunks(view);
  if (data === undefined) {
    const read = Math.floor(bytes.byteLength / 1024);
    const isWhole = bytes.byteLength >= totalLength;
    return notAudio(
      isWhole
        ? "The WAV file ends before its samples begin."
        : `The WAV file has a header of more than ${read} KiB before its samples.`,
    );
  }
  return withData(format, data.from, data.size, totalLength);
}

/** The header that some programs send before bare samples. */
interface StreamedWavHeader extends PcmFormat {
  /** Offset of the first sample, bytes. */
  dataOffset: number;
}

/**
 * Reads the WAV header at the beginning of a stream, whatever lengths it states; undefined while
 * more of it is needed.
 *
 * @param bytes the stream's beginning, at least its form (12 bytes)
 */
export function parseStreamedWavHeader(
  bytes: Uint8Array,
): StreamedWavHeader | AudioFormatError | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (tagAt(view, 8) !== "WAVE") return notAudio("It does not begin with a RIFF/WAVE header.");
  const { format, data } = readChunks(view);
  if (format !== undefined && isAudioFormatError(format)) return format;
  if (data === undefined) return undefined;
  if (format === undefined) return notAudio("It has no format chunk before its samples.");
  return { ...format, dataOffset: data.from };
}

interface WavChunks {
  format?: PcmFormat | AudioFormatError;
  data?: { from: number; size: number };
}

/** The chunks up to the samples, as far as they are there. */
function readChunks(view: DataView): WavChunks {
  const found: WavChunks = {};
  let large: number | undefined;
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const tag = tagAt(view, at);
    const size = view.getUint32(at + 4, true);
    const from = at + 8;
    if (tag === "data") {
      return { ...found, data: { from, size: size === SIZE_UNKNOWN ? (large ?? size) : size } };
    }
    if (tag === "ds64" && from + LARGE_SIZES <= view.byteLength) {
      large = Number(view.getBigUint64(from + 8, true));
    }
    const isThere = from + Math.min(size, LONGEST_FORMAT) <= view.byteLength;
    if (tag === "fmt " && isThere) found.format = readFormat(view, from, size);
    at = from + size + (size % 2);
  }
  return found;
}

/**
 * Reads a media type of raw PCM, e.g. `audio/pcm;rate=16000;channels=1;encoding=s16le`. The rate is
 * required; the defaults are one channel and s16le.
 */
export function parsePcmMediaType(mediaType: string): PcmFormat | AudioFormatError {
  const [type = "", ...rest] = mediaType.split(";").map((part) => part.trim().toLowerCase());
  if (type !== "audio/pcm") return unsupported(`${type || "This"} is not raw PCM (audio/pcm).`);
  const parameters = new Map(rest.map(readParameter));
  const encoding = parameters.get("encoding") ?? "s16le";
  if (!isEncoding(encoding)) {
    return unsupported(`PCM encoding ${encoding} is not one of ${Object.keys(BITS).join(", ")}.`);
  }
  const sampleRate = Number(parameters.get("rate") ?? Number.NaN);
  const channels = Number(parameters.get("channels") ?? 1);
  return checked({ encoding, channels, sampleRate, bitsPerSample: BITS[encoding] });
}

/** True for an error of `parseWavHeader` or `parsePcmMediaType`. */
export function isAudioFormatError(
  result: PcmFormat | AudioFormatError,
): result is AudioFormatError {
  return "error" in result;
}

/** Size of one frame in bytes: one sample of every channel. */
export function bytesPerFrame(format: PcmFormat): number {
  return (format.channels * format.bitsPerSample) / 8;
}

function readFormat(view: DataView, at: number, size: number): PcmFormat | AudioFormatError {
  if (size < 16) return notAudio("The WAV format chunk is too short.");
  const bits = view.getUint16(at + 14, true);
  let tag = view.getUint16(at, true);
  if (tag === FORMAT_EXTENSIBLE) {
    if (size < LONGEST_FORMAT) return notAudio("The extensible WAV format chunk is too short.");
    tag = view.getUint16(at + SUB_FORMAT_OFFSET, true);
  }
  const encoding = encodingOf(tag, bits);
  if (encoding === undefined) {
    return unsupported(
      `WAV format ${tag} with ${bits} bits is not supported: send PCM of 8, 16, 24 or 32 bits, float of 32 or 64 bits, µ-law or A-law.`,
    );
  }
  const channels = view.getUint16(at + 2, true);
  const sampleRate = view.getUint32(at + 4, true);
  const frameBytes = view.getUint16(at + 12, true);
  // Samples may lie in wider ones; where only one of two fields says so, it is wrong.
  const isWider = frameBytes > 0 && view.getUint32(at + 8, true) === sampleRate * frameBytes;
  if (isWider && frameBytes !== (channels * bits) / 8) {
    return unsupported(
      `WAV of ${bits} bits in frames of ${frameBytes} bytes and ${channels} channels is not supported.`,
    );
  }
  return checked({ encoding, channels, sampleRate, bitsPerSample: bits });
}

function encodingOf(tag: number, bits: number): SampleEncoding | undefined {
  if (tag === FORMAT_FLOAT) return bits === 32 ? "f32le" : bits === 64 ? "f64le" : undefined;
  if (tag === FORMAT_ALAW) return bits === 8 ? "alaw" : undefined;
  if (tag === FORMAT_MULAW) return bits === 8 ? "mulaw" : undefined;
  if (tag !== FORMAT_PCM) return undefined;
  const byBits: Readonly<Record<number, SampleEncoding>> = {
    8: "u8",
    16: "s16le",
    24: "s24le",
    32: "s32le",
  };
  return byBits[bits];
}

function checked(format: PcmFormat): PcmFormat | AudioFormatError {
  const { channels } = format;
  if (!Number.isInteger(channels) || channels < 1 || channels > MAX_CHANNELS) {
    return unsupported(`${channels} channels are not supported: send 1 to ${MAX_CHANNELS}.`);
  }
  if (!isSupportedRate(format.sampleRate)) {
    return unsupported(
      `A sample rate of ${format.sampleRate} Hz is not supported: send a usual one from 8000 to 96000.`,
    );
  }
  return format;
}

function withData(
  format: PcmFormat | AudioFormatError | undefined,
  dataOffset: number,
  size: number,
  totalLength: number,
): WavFormat | AudioFormatError {
  if (format === undefined) return notAudio("The WAV file has no format chunk before its samples.");
  if (isAudioFormatError(format)) return format;
  const there = Math.max(0, totalLength - dataOffset);
  const length = size === 0 || size === SIZE_UNKNOWN ? there : Math.min(size, there);
  const frames = Math.floor(length / bytesPerFrame(format));
  if (frames === 0) return notAudio("The WAV file holds no samples.");
  return { ...format, dataOffset, dataLength: frames * bytesPerFrame(format), frames };
}

function readParameter(part: string): [string, string] {
  const [name = "", value = ""] = part.split("=", 2).map((text) => text.trim());
  return [name, value.replaceAll('"', "")];
}

function isEncoding(name: string): name is SampleEncoding {
  return Object.hasOwn(BITS, name);
}

function tagAt(view: DataView, at: number): string {
  if (at + 4 > view.byteLength) return "";
  return String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)));
}

function notAudio(error: string): AudioFormatError {
  return { code: "not_audio", error };
}

function unsupported(error: string): AudioFormatError {
  return { code: "unsupported_media_type", error };
}

const BYTES_PER_SAMPLE = 2;
const RIFF_LIMIT = 0xffffffff;
/** The `fmt ` chunk and the head of `data`. */
const TAIL_BYTES = 8 + 16 + 8;

interface WavShape {
  sampleRate: number;
  channels: number;
  /** Samples of each channel. */
  frames: number;
}

/** The header of a WAV file with 16 kHz mono 16-bit samples; see `wavFileHeader`. */
export function wavHeader(samples: number): Buffer {
  return wavFileHeader({ sampleRate: SESSION_RATE, channels: 1, frames: samples });
}

/** The header of a WAV file with 16-bit samples. Beyond 4 GiB it is RF64 (EBU Tech 3306). */
export function wavFileHeader(shape: WavShape): Buffer {
  const dataBytes = shape.frames * shape.channels * BYTES_PER_SAMPLE;
  const riffBytes = 4 + TAIL_BYTES + dataBytes;
  if (riffBytes <= RIFF_LIMIT) {
    return Buffer.concat([riffHead("RIFF", riffBytes), formatAndData(shape, dataBytes)]);
  }
  const ds64 = Buffer.alloc(8 + 28);
  ds64.write("ds64", 0, "latin1");
  ds64.writeUInt32LE(28, 4);
  ds64.writeBigUInt64LE(BigInt(riffBytes + ds64.length), 8);
  ds64.writeBigUInt64LE(BigInt(dataBytes), 16);
  ds64.writeBigUInt64LE(BigInt(shape.frames), 24);
  return Buffer.concat([riffHead("RF64", RIFF_LIMIT), ds64, formatAndData(shape, RIFF_LIMIT)]);
}

function riffHead(form: "RIFF" | "RF64", bytes: number): Buffer {
  const head = Buffer.alloc(12);
  head.write(form, 0, "latin1");
  head.writeUInt32LE(bytes, 4);
  head.write("WAVE", 8, "latin1");
  return head;
}

function formatAndData({ sampleRate, channels }: WavShape, dataBytes: number): Buffer {
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.write("fmt ", 0, "latin1");
  tail.writeUInt32LE(16, 4);
  // PCM.
  tail.writeUInt16LE(1, 8);
  tail.writeUInt16LE(channels, 10);
  tail.writeUInt32LE(sampleRate, 12);
  tail.writeUInt32LE(sampleRate * channels * BYTES_PER_SAMPLE, 16);
  tail.writeUInt16LE(channels * BYTES_PER_SAMPLE, 20);
  tail.writeUInt16LE(8 * BYTES_PER_SAMPLE, 22);
  tail.write("data", 24, "latin1");
  tail.writeUInt32LE(dataBytes, 28);
  return tail;
}
