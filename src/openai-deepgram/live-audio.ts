import { joinOpusPackets, opusPacketSamples } from "../base/audio/opus-packets.ts";
import { readChannels, readMono } from "../base/audio/pcm-samples.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../base/audio/wav.ts";
import { openSoundFile } from "../base/codecs/sound-file.ts";
import { soundKind } from "../base/codecs/sound-kinds.ts";
import { AppError } from "../base/errors.ts";
import type { StreamSettings } from "../conversations/recording/stream-records.ts";
import type { DeepgramOrder } from "./deepgram-query.ts";

/** What tells a container, and the header of WAV. */
const HEAD_BYTES = 64;
/** The headers of files are shorter. */
const LONGEST_HEAD = 256 * 1024;
const OPUS_RATE = 48_000;
/** Most bytes of a file that are read at a time: they may hold fifteen thousand packets. */
export const STEP_BYTES = 32 * 1024;

/** Turns what a client sends into the messages of an audio stream. */
export interface LiveAudio {
  readonly settings: StreamSettings;
  /** Length of the sound so far, seconds. */
  readonly seconds: number;
  /** Throws `not_audio` and `unsupported_media_type`. */
  take(bytes: Uint8Array): Uint8Array[];
  /** What `take` has kept back because more may come; throws as it does. */
  flush(): Uint8Array[];
}

/** So few bytes are walked again with each message. */
const FEW_BYTES = 32 * 1024;
/** Beyond that they are walked again once they have grown by a quarter. */
const GROWTH = 1.25;

/**
 * When bytes that come in parts are read again from their beginning: with each part while they
 * are few, then when they have grown by a quarter, so that all readings together walk a few times as
 * many bytes as came, however small the parts are.
 */
export class RepeatedTranscription {
  #next = 0;
  #isWaiting = false;

  /** Some bytes have not been read. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** True when `length` bytes are worth a reading, which the caller then does. */
  isDue(length: number): boolean {
    this.#isWaiting = length < this.#next;
    if (!this.#isWaiting) this.keep(length);
    return !this.#isWaiting;
  }

  /** After a reading: all is gone but for `length` bytes. */
  keep(length: number): void {
    this.#isWaiting = false;
    this.#next = length <= FEW_BYTES ? 0 : length * GROWTH;
  }
}

type Raw = DeepgramOrder["raw"];

/** A message in parts that are read one at a time; of bare Opus each message is one packet. */
export function partsOf(message: Buffer, raw: Raw): Buffer[] {
  if (raw?.encoding === "opus") return [message];
  const parts: Buffer[] = [];
  for (let at = 0; at < message.byteLength; at += STEP_BYTES) {
    parts.push(message.subarray(at, at + STEP_BYTES));
  }
  return parts;
}

/**
 * Looks at the first bytes of a stream: a WAV file, Opus in Ogg or WebM by their marks, else raw
 * audio as the caller told. Undefined when more bytes have to come first. Throws `not_audio` when
 * neither is known, `unsupported_media_type` for other files.
 */
export function openLiveAudio(
  head: Uint8Array,
  raw: Raw,
  interim: boolean,
): { audio: LiveAudio; rest: Uint8Array } | undefined {
  if (head.byteLength < HEAD_BYTES && raw === undefined) return undefined;
  const kind = raw?.encoding === "opus" ? undefined : soundKind(head);
  if (kind === "wav") return openWav(head, interim);
  if (kind === "ogg" || kind === "webm") return openOpus(head, interim);
  if (raw === undefined) throw unreadable(kind);
  const isMarked = kind !== undefined && kind !== "mp3";
  if (isMarked) throw unreadable(kind);
  if (raw.encoding === "opus") {
    return { audio: new PacketAudio(raw.channels, interim), rest: head };
  }
  const { encoding, sampleRate, channels } = raw;
  const format = parsePcmMediaType(
    `audio/pcm;rate=${sampleRate};channels=${channels};encoding=${encoding}`,
  );
  if (isAudioFormatError(format)) throw new AppError(format.code, format.error);
  return { audio: new SampleAudio(format, interim), rest: head };
}

function unreadable(kind: ReturnType<typeof soundKind>): AppError {
  const name = typeof kind === "object" ? kind.refused : kind?.toUpperCase();
  const wanted =
    "Send raw audio with encoding and sample_rate, WAV, or Opus in Ogg or WebM; other files go to POST.";
  if (name === undefined) return new AppError("not_audio", `This is no audio. ${wanted}`);
  return new AppError("unsupported_media_type", `${name} is not read live. ${wanted}`);
}

function openWav(head: Uint8Array, interim: boolean) {
  const wav = parseWavHeader(head, Number.MAX_SAFE_INTEGER);
  if (!isAudioFormatError(wav)) {
    return { audio: new SampleAudio(wav, interim), rest: head.subarray(wav.dataOffset) };
  }
  if (wav.code === "not_audio" && head.byteLength < LONGEST_HEAD) return undefined;
  throw new AppError(wav.code, wav.error);
}

function openOpus(head: Uint8Array, interim: boolean) {
  // As little as tells it: what lies behind its headers is read in steps.
  for (let length = STEP_BYTES; length < head.byteLength; length *= 2) {
    const opened = openOpusIn(head, length, interim);
    if (opened !== undefined) return opened;
  }
  const opened = openOpusIn(head, head.byteLength, interim);
  if (opened !== undefined || head.byteLength < LONGEST_HEAD) return opened;
  throw new AppError("not_audio", "No Opus stream begins in the first 256 KiB.");
}

function openOpusIn(all: Uint8Array, length: number, interim: boolean) {
  const file = openSoundFile(all.subarray(0, length));
  if (!("error" in file) && file.codec !== "opus") {
    const message = "Ogg Vorbis is not read live: send Opus, or the whole file to POST.";
    throw new AppError("unsupported_media_type", message);
  }
  if (!("error" in file) && file.part?.head !== undefined) {
    return {
      audio: new ContainedAudio(file.part.head, file.channels, interim),
      rest: all.subarray(file.part.head.byteLength),
    };
  }
  if ("error" in file && file.code === "unsupported_media_type") {
    throw new AppError(file.code, file.error);
  }
  return undefined;
}

/** Samples, as they are where streams take them, else of 16 bits; of more than two channels mixed. */
class SampleAudio implements LiveAudio {
  readonly settings: StreamSettings;
  readonly #format: PcmFormat;
  /** Channels of the stream. */
  readonly #kept: number;
  readonly #isPlain: boolean;
  #rest: Uint8Array = new Uint8Array(0);
  #bytes = 0;

  constructor(format: PcmFormat, interim: boolean) {
    const { encoding, sampleRate, channels } = format;
    this.#format = format;
    this.#kept = channels <= 2 ? channels : 1;
    this.#isPlain = (encoding === "s16le" || encoding === "mulaw") && this.#kept === channels;
    const name = this.#isPlain && encoding === "mulaw" ? "mulaw" : "pcm_s16le";
    this.settings = {
      ...{ encoding: name, sampleRate, channels: this.#kept, framing: "packet", interim },
    };
  }

  get seconds(): number {
    return this.#bytes / bytesPerFrame(this.#format) / this.#format.sampleRate;
  }

  take(bytes: Uint8Array): Uint8Array[] {
    if (bytes.byteLength === 0) return [];
    this.#bytes += bytes.byteLength;
    if (this.#isPlain) return [bytes];
    const all = Buffer.concat([this.#rest, bytes]);
    const whole = all.byteLength - (all.byteLength % bytesPerFrame(this.#format));
    this.#rest = all.subarray(whole);
    const frames = all.subarray(0, whole);
    const samples =
      this.#kept === 1
        ? readMono(this.#format, frames)
        : readChannels(this.#format, frames, this.#kept);
    return [new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)];
  }

  /** The rest is no whole sample. */
  flush(): Uint8Array[] {
    return [];
  }
}

/** Opus packets, each a message. */
class PacketAudio implements LiveAudio {
  readonly settings: StreamSettings;
  #samples = 0;

  constructor(channels: number, interim: boolean) {
    this.settings = {
      ...{ encoding: "opus", sampleRate: 16_000, channels, framing: "packet", interim },
    };
  }

  get seconds(): number {
    return this.#samples / OPUS_RATE;
  }

  take(packet: Uint8Array): Uint8Array[] {
    this.#samples += opusPacketSamples(packet, OPUS_RATE);
    return [packet];
  }

  flush(): Uint8Array[] {
    return [];
  }
}

/** Opus in Ogg or WebM, cut anywhere. */
class ContainedAudio implements LiveAudio {
  readonly settings: StreamSettings;
  readonly #head: Uint8Array;
  readonly #reading = new RepeatedTranscription();
  /** What came since the last reading, behind what that left over. */
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #samples = 0;

  constructor(head: Uint8Array, channels: number, interim: boolean) {
    this.#head = head;
    this.settings = {
      ...{ encoding: "opus", sampleRate: 16_000, channels: Math.min(2, channels) },
      ...{ framing: "length_prefixed", interim },
    };
  }

  get seconds(): number {
    return this.#samples / OPUS_RATE;
  }

  take(bytes: Uint8Array): Uint8Array[] {
    this.#kept.push(bytes);
    this.#keptBytes += bytes.byteLength;
    const isDue = this.#reading.isDue(this.#head.byteLength + this.#keptBytes);
    return isDue ? this.#read() : [];
  }

  flush(): Uint8Array[] {
    return this.#reading.isWaiting ? this.#read() : [];
  }

  #read(): Uint8Array[] {
    const file = openSoundFile(Buffer.concat([this.#head, ...this.#kept]), true);
    if ("error" in file) throw new AppError(file.code, file.error);
    if (file.codec !== "opus") throw new AppError("not_audio", "The stream is no Opus any more.");
    const carry = file.part?.carry ?? new Uint8Array(0);
    this.#kept = [carry];
    this.#keptBytes = carry.byteLength;
    this.#reading.keep(this.#head.byteLength + carry.byteLength);
    if (carry.byteLength > LONGEST_HEAD) {
      throw new AppError("not_audio", "No Opus packet ends in 256 KiB.");
    }
    const { packets } = file.audio;
    for (const packet of packets) this.#samples += opusPacketSamples(packet, OPUS_RATE);
    return packets.length === 0 ? [] : [joinOpusPackets(packets)];
  }
}
