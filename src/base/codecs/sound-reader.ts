import type { Decoding } from "./decoding.ts";
import { FlacDecoding, loadFlacDecoder } from "./flac-decoder.ts";
import { loadMp3Decoder, MpegDecoding } from "./mp3-decoder.ts";
import { loadOpusDecoder, OpusDecoding } from "./opus-decoder.ts";
import type { SoundFile } from "./sound-file.ts";
import { loadVorbisDecoder, VorbisDecoding } from "./vorbis-decoder.ts";

/** Less than this share of the announced samples means that the file cannot be decoded. */
const LEAST_SHARE = 0.5;

/** Compiles all decoders; takes a tenth of a second in a thread. Must come before `SoundReader`. */
export async function loadDecoders(): Promise<void> {
  loadFlacDecoder();
  loadVorbisDecoder();
  await Promise.all([loadMp3Decoder(), loadOpusDecoder()]);
}

/**
 * Reads the samples of one file, from its beginning: exactly as many as were measured. What is
 * missing at its end is silence.
 */
export class SoundReader {
  readonly sampleRate: number;
  readonly channels: number;
  /** Samples of each channel. */
  readonly frames: number;
  readonly #decoding: Decoding;
  #skip: number;
  /** Frames that were returned. */
  #done = 0;
  /** Frames that came from the decoder. */
  #decoded = 0;
  #rest = new Int16Array(0);
  #isAtEnd = false;

  /** Throws when the decoder refuses the file's headers. */
  constructor(file: SoundFile, bytes: Uint8Array) {
    this.sampleRate = file.sampleRate;
    this.channels = file.channels;
    this.frames = file.frames;
    this.#skip = "skip" in file.audio ? file.audio.skip : 0;
    this.#decoding = decodingOf(file, bytes);
  }

  /** Whether so little could be decoded, once all was read, that the file is no audio. */
  get isBroken(): boolean {
    return this.#done >= this.frames && this.#decoded < LEAST_SHARE * this.frames;
  }

  /** Returns up to `limit` further frames, interleaved, 16 bits; none at the end. */
  read(limit: number): Int16Array {
    const wanted = Math.min(limit, this.frames - this.#done);
    const samples = new Int16Array(wanted * this.channels);
    let filled = 0;
    while (filled < samples.length) {
      const part = this.#take(samples.length - filled);
      if (part === undefined) break;
      samples.set(part, filled);
      filled += part.length;
    }
    this.#done += wanted;
    return samples;
  }

  close(): void {
    this.#decoding.close();
  }

  /** At most `count` samples; undefined at the end of the file. */
  #take(count: number): Int16Array | undefined {
    while (this.#rest.length === 0) {
      if (this.#isAtEnd) return undefined;
      const next = this.#decoding.next();
      if (next === undefined) {
        this.#isAtEnd = true;
        return undefined;
      }
      const skipped = Math.min(this.#skip, next.length / this.channels);
      this.#skip -= skipped;
      this.#rest = next.subarray(skipped * this.channels) as Int16Array<ArrayBuffer>;
    }
    const part = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(part.length);
    this.#decoded += part.length / this.channels;
    return part;
  }
}

function decodingOf(file: SoundFile, bytes: Uint8Array): Decoding {
  switch (file.codec) {
    case "opus":
      return new OpusDecoding(file.audio.head, file.audio.packets);
    case "vorbis":
      return new VorbisDecoding(file.audio);
    case "mp3":
      return new MpegDecoding(file.audio, bytes);
    case "flac":
      return new FlacDecoding(file.audio, bytes);
  }
}
