import { readFileSync, statSync } from "node:fs";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";

const FORMAT_PCM = 1;
const FORMAT_FLOAT = 3;
const FORMAT_EXTENSIBLE = 0xfffe;
const HEADER_BYTES = 44;
const MOST_BYTES = 1024 ** 3;

/** Uncompressed audio: interleaved frames as in the file, little-endian. */
export interface WaveAudio {
  readonly float: boolean;
  readonly bitsPerSample: number;
  readonly channels: number;
  readonly sampleRate: number;
  /** The frames' bytes; whole frames only. */
  readonly data: Buffer;
}

export function frameBytes({ bitsPerSample, channels }: WaveAudio): number {
  return (bitsPerSample / 8) * channels;
}

export function durationSeconds(audio: WaveAudio): number {
  return audio.data.length / frameBytes(audio) / audio.sampleRate;
}

/** Reads a WAV file; throws one sentence when it does not exist or is not uncompressed audio. */
export function readWave(file: string): WaveAudio {
  let bytes: Buffer;
  try {
    if (statSync(file).size > MOST_BYTES) throw new Error("larger than 1 GiB");
    bytes = readFileSync(file);
  } catch (error) {
    throw new CommandFailure(`cannot read ${file}: ${reasonOf(error)}`, error);
  }
  const audio = parseWave(bytes);
  if (audio !== undefined) return audio;
  throw new CommandFailure(
    `${file} is not a WAV file of 16, 24 or 32 bit PCM or 32 bit float; convert it first, ` +
      "for example: sox IN -b 16 -r 16000 -c 1 OUT.wav",
  );
}

/** The audio of a WAV file's bytes; undefined for any other content. */
export function parseWave(bytes: Buffer): WaveAudio | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") {
    return undefined;
  }
  let format: Omit<WaveAudio, "data"> | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    // A header that was written before the end was known declares more bytes than there are.
    const body = bytes.subarray(at + 8, Math.min(at + 8 + size, bytes.length));
    if (id === "fmt " && body.length >= 16) format = parseFormat(body);
    if (id === "data" && format) return wholeFrames({ ...format, data: body });
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function parseFormat(body: Buffer): Omit<WaveAudio, "data"> | undefined {
  const tag = body.readUInt16LE(0);
  const kind = tag === FORMAT_EXTENSIBLE && body.length >= 26 ? body.readUInt16LE(24) : tag;
  const float = kind === FORMAT_FLOAT;
  const bitsPerSample = body.readUInt16LE(14);
  const channels = body.readUInt16LE(2);
  const sampleRate = body.readUInt32LE(4);
  const known = float ? bitsPerSample === 32 : kind === FORMAT_PCM && bitsPerSample >= 16;
  if (!known || bitsPerSample > 32 || bitsPerSample % 8 || !channels || !sampleRate)
    return undefined;
  return { float, bitsPerSample, channels, sampleRate };
}

function wholeFrames(audio: WaveAudio): WaveAudio {
  const length = audio.data.length - (audio.data.length % frameBytes(audio));
  return { ...audio, data: audio.data.subarray(0, length) };
}

/** A WAV file's bytes for audio in memory. */
export function encodeWave(audio: WaveAudio): Buffer<ArrayBuffer> {
  const { data, channels, sampleRate, bitsPerSample, float } = audio;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(HEADER_BYTES - 8 + data.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(float ? FORMAT_FLOAT : FORMAT_PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes(audio), 28);
  header.writeUInt16LE(frameBytes(audio), 32);
  header.writeUInt16LE(bitsPerSample, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

/**
 * Converts audio to 16-bit PCM: takes the upper bits of wider samples and clips floats to -1..1.
 */
export function toPcm16(audio: WaveAudio): WaveAudio {
  if (!audio.float && audio.bitsPerSample === 16) return audio;
  const width = audio.bitsPerSample / 8;
  const data = Buffer.alloc((audio.data.length / width) * 2);
  for (let i = 0; i * width < audio.data.length; i++) {
    const sample = audio.float
      ? Math.round(Math.max(-1, Math.min(1, audio.data.readFloatLE(i * width) || 0)) * 32_767)
      : audio.data.readIntLE(i * width, width) >> (audio.bitsPerSample - 16);
    data.writeInt16LE(sample, i * 2);
  }
  return { ...audio, float: false, bitsPerSample: 16, data };
}
