import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readChannels } from "../../base/audio/pcm-samples.ts";
import { type AudioFormatError, isAudioFormatError, parseWavHeader } from "../../base/audio/wav.ts";
import { bytesInMemory } from "../../base/codecs/file-bytes.ts";
import { MOST_RECORDINGS, recordingStarts } from "../../base/codecs/joined-recordings.ts";
import { openSoundFile } from "../../base/codecs/sound-file.ts";
import { soundKind } from "../../base/codecs/sound-kinds.ts";
import { loadDecoders, SoundReader } from "../../base/codecs/sound-reader.ts";
import { READABLE_FILES } from "../../base/codecs/sound-types.ts";
import { DecodeFailure } from "../../base/decoder/decode-file.ts";
import { decodeRecordings } from "../../base/decoder/decode-recordings.ts";
import { findDecoder } from "../../base/decoder/decoder-program.ts";
import { isText } from "../../base/decoder/text-file.ts";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";
import type { WaveAudio } from "./wave-file.ts";

const MOST_BYTES = 1024 ** 3;
/** Until FFmpeg is given up. */
const LONGEST_MS = 15 * 60_000;
/** Frames that are decoded at a time. */
const STEP = 48_000;

/** Reads and decodes recordings before anything is started; see `readRecording`. */
export async function readRecordings(files: readonly string[]): Promise<WaveAudio[]> {
  const recordings: WaveAudio[] = [];
  for (const file of files) recordings.push(await readRecording(file));
  return recordings;
}

/**
 * Reads a file of any kind that the service takes, told by its bytes: samples of PCM are left as
 * they are, others become 16 bits of the file's own rate and channels. Throws CommandFailure with
 * one sentence when it does not exist or cannot be read.
 */
async function readRecording(file: string): Promise<WaveAudio> {
  let bytes: Buffer;
  try {
    if (statSync(file).size > MOST_BYTES) throw new Error("larger than 1 GiB");
    bytes = readFileSync(file);
  } catch (error) {
    throw new CommandFailure(`cannot read ${file}: ${reasonOf(error)}`, error);
  }
  const audio = await decodeRecording(bytes);
  if (!("error" in audio)) return audio;
  throw new CommandFailure(
    `${file} cannot be sent: ${audio.error} Files may be ${READABLE_FILES}.`,
  );
}

/** Decodes the bytes of a whole file; see `readRecordings`. */
export async function decodeRecording(bytes: Buffer): Promise<WaveAudio | AudioFormatError> {
  const starts = recordingStarts(bytesInMemory(bytes));
  if (starts.length > 0) return decodeSeveral(bytes, starts);
  const audio = await readKnown(bytes);
  if (!("error" in audio) || isText(bytes)) return audio;
  return (await decodeOther(bytes)) ?? audio;
}

async function decodeSeveral(
  bytes: Buffer,
  starts: readonly number[],
): Promise<WaveAudio | AudioFormatError> {
  const audio = starts.length < MOST_RECORDINGS ? await decodeOther(bytes, starts) : undefined;
  if (audio !== undefined) return audio;
  return notAudio(
    `It holds ${starts.length + 1} recordings one after the other or more, the second from byte ${starts[0]} on; send them apart.`,
  );
}

/** What we read ourselves. */
async function readKnown(bytes: Buffer): Promise<WaveAudio | AudioFormatError> {
  const kind = soundKind(bytes);
  if (kind === undefined && "error" in openSoundFile(bytes)) return notAudio("It is not audio.");
  if (typeof kind === "object") return notAudio(`${kind.refused} is not supported.`);
  if (kind === "wav") return readWav(bytes);
  if (kind === "ogg-part" || kind === "webm-part") {
    return notAudio("It is a later part of a recording, without the beginning.");
  }
  return decoded(bytes);
}

/** By FFmpeg, as the service does it, at 16 kHz; undefined when it cannot either. */
async function decodeOther(
  bytes: Buffer,
  starts: readonly number[] = [],
): Promise<WaveAudio | undefined> {
  const program = findDecoder("auto");
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "voice-decode-"));
  try {
    const [input, output] = [join(folder, "in"), join(folder, "out.wav")];
    writeFileSync(input, bytes, { mode: 0o600 });
    const limits = { outputBytes: MOST_BYTES, memoryBytes: MOST_BYTES / 2 };
    const { signal } = new AbortController();
    const files = { input, starts, output };
    await decodeRecordings(program, files, { limits, longestMs: LONGEST_MS, signal });
    const audio = readWav(readFileSync(output));
    return "error" in audio ? undefined : audio;
  } catch (error) {
    if (!(error instanceof DecodeFailure)) throw error;
    if (error.reason === "undecodable") return undefined;
    throw new CommandFailure(error.message, error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readWav(bytes: Buffer): WaveAudio | AudioFormatError {
  const format = parseWavHeader(bytes);
  if (isAudioFormatError(format)) return format;
  const { encoding, bitsPerSample, channels, sampleRate, dataOffset, dataLength } = format;
  const samples = bytes.subarray(dataOffset, dataOffset + dataLength);
  const shape = { channels, sampleRate };
  if (encoding === "f32le") return { ...shape, float: true, bitsPerSample, data: samples };
  if (/^s(16|24|32)le$/.test(encoding)) {
    return { ...shape, float: false, bitsPerSample, data: samples };
  }
  const data = bytesOf(readChannels(format, samples, channels));
  return { ...shape, float: false, bitsPerSample: 16, data };
}

async function decoded(bytes: Buffer): Promise<WaveAudio | AudioFormatError> {
  const file = openSoundFile(bytes);
  if ("error" in file) return file;
  const { sampleRate, channels, frames } = file;
  if (2 * frames * channels > MOST_BYTES) return notAudio("It decodes to more than 1 GiB.");
  await loadDecoders();
  const data = Buffer.alloc(2 * frames * channels);
  let reader: SoundReader | undefined;
  try {
    reader = new SoundReader(file, bytes);
    let at = 0;
    for (let part = reader.read(STEP); part.length > 0; part = reader.read(STEP)) {
      at += bytesOf(part).copy(data, at);
    }
    if (reader.isBroken) return notAudio("Hardly anything of it can be decoded.");
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return notAudio("Its headers are damaged.");
  } finally {
    reader?.close();
  }
  return { float: false, bitsPerSample: 16, channels, sampleRate, data };
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function notAudio(error: string): AudioFormatError {
  return { code: "not_audio", error };
}
