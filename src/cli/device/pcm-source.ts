import { readChannels } from "../../base/audio/pcm-samples.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parseWavHeader,
} from "../../base/audio/wav.ts";
import { soundKind } from "../../base/codecs/sound-kinds.ts";
import { READABLE_FILES } from "../../base/codecs/sound-types.ts";
import { CommandFailure } from "../client/command-context.ts";
import { decodeRecording } from "./recording-file.ts";
import { toPcm16 } from "./wave-file.ts";

/** Sound that comes as it is made: 16-bit samples, interleaved, in fragments of any size. */
export interface PcmSource {
  readonly sampleRate: number;
  readonly channels: number;
  readonly fragments: AsyncIterable<Uint8Array>;
}

/** What raw samples are, when nothing in them says it. */
interface RawFormat {
  readonly sampleRate: number;
  readonly channels: number;
}

const MOST_HEAD = 256 * 1024;
/** Enough to tell any kind of file by its first bytes. */
const LEAST_HEAD = 64;
const MOST_BYTES = 1024 ** 3;
const MOST_RATE = 48_000;
const MOST_CHANNELS = 2;

/**
 * Reads sound from a stream, such as standard input: WAV as it comes, other files of sound once they
 * are whole, and anything else as raw samples of `raw`. Throws CommandFailure with one sentence when
 * nothing comes, or nothing that can be streamed.
 */
export async function readPcm(
  input: AsyncIterable<Uint8Array>,
  raw: RawFormat | undefined,
): Promise<PcmSource> {
  const fragments = input[Symbol.asyncIterator]();
  const head = await readUntil(fragments, Buffer.alloc(0), LEAST_HEAD);
  if (head.length === 0) throw new CommandFailure("no audio came on standard input");
  if (raw !== undefined) {
    return { ...checkedFormat(raw), fragments: wholeSamples(head, fragments, 2 * raw.channels) };
  }
  const kind = soundKind(head);
  if (kind === "wav") return readWav(fragments, head);
  if (kind === undefined) {
    throw new CommandFailure(
      "what comes on standard input does not say what it is; for raw 16-bit samples give --rate and --channels",
    );
  }
  const bytes = await readUntil(fragments, head, MOST_BYTES);
  if (bytes.length >= MOST_BYTES) throw new CommandFailure("standard input: larger than 1 GiB");
  const audio = await decodeRecording(bytes);
  if ("error" in audio) {
    throw new CommandFailure(`standard input: ${audio.error} It may be ${READABLE_FILES}.`);
  }
  const { sampleRate, channels, data } = toPcm16(audio);
  return { ...checkedFormat({ sampleRate, channels }), fragments: once(data) };
}

async function readWav(source: AsyncIterator<Uint8Array>, beginning: Buffer): Promise<PcmSource> {
  let head = beginning;
  for (let least = 2 * LEAST_HEAD; ; least *= 2) {
    // Without the file's length, samples go on to the end of what comes.
    const wav = parseWavHeader(head, Number.MAX_SAFE_INTEGER);
    if (!isAudioFormatError(wav)) {
      const { sampleRate, channels, dataOffset, dataLength } = wav;
      const frames = wholeSamples(
        head.subarray(dataOffset),
        source,
        bytesPerFrame(wav),
        dataLength,
      );
      return { ...checkedFormat({ sampleRate, channels }), fragments: converted(frames, wav) };
    }
    const before = head.length;
    if (before < MOST_HEAD) head = await readUntil(source, head, least);
    if (head.length === before) throw new CommandFailure(`standard input: ${wav.error}`);
  }
}

async function* converted(
  frames: AsyncIterable<Uint8Array>,
  format: PcmFormat,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of frames) {
    const { buffer, byteOffset, byteLength } = readChannels(format, bytes, format.channels);
    yield Buffer.from(buffer, byteOffset, byteLength);
  }
}

/** The bytes of `first` and then of `rest` in fragments of whole frames, at most `most` bytes. */
async function* wholeSamples(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  frame: number,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array = first;
  let left = most;
  for (;;) {
    const length = Math.min(kept.length - (kept.length % frame), left);
    if (length > 0) yield kept.subarray(0, length);
    kept = kept.subarray(length);
    left -= length;
    if (left < frame) return;
    const next = await rest.next();
    if (next.done) return;
    kept = kept.length === 0 ? next.value : Buffer.concat([kept, next.value]);
  }
}

/** Reads until there are `least` bytes, or no more. */
async function readUntil(
  fragments: AsyncIterator<Uint8Array>,
  beginning: Buffer,
  least: number,
): Promise<Buffer> {
  const parts: Uint8Array[] = [beginning];
  let length = beginning.length;
  while (length < least) {
    const next = await fragments.next();
    if (next.done) break;
    parts.push(next.value);
    length += next.value.length;
  }
  return Buffer.concat(parts);
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

/** Throws for what a stream to the service cannot be. */
export function checkedFormat({ sampleRate, channels }: RawFormat): RawFormat {
  if (sampleRate <= MOST_RATE && channels <= MOST_CHANNELS) return { sampleRate, channels };
  throw new CommandFailure(
    `a stream has at most 48 kHz and 2 channels, not ${sampleRate / 1_000} kHz and ${channels}; convert it, for example: sox IN -r 16000 -c 1 OUT.wav, or use voice upload`,
  );
}
