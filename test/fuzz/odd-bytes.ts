import fc, { type Arbitrary } from "fast-check";
import { makeWav } from "../support/make-wav.ts";

/** Bytes that are made when they are sent, so that a case stays short enough to be printed. */
export interface OddBytes {
  kind: (typeof KINDS)[number];
  size: number;
  seed: number;
}

const KINDS = ["zeros", "noise", "ones", "wav", "bent wav", "magic", "packets", "text"] as const;

const MAGIC = [
  "OggS\0\x02",
  "RIFF\x24\x08\0\0WAVEfmt ",
  "fLaC\0\0\0\x22",
  "ID3\x03",
  "\x1aE\xdf\xa3",
];

/** Sizes around what the service counts in: samples, packets, the limits of messages. */
const SIZES = [0, 1, 2, 3, 5, 160, 319, 640, 641, 1_275, 1_276, 3_200, 32_000, 65_535, 65_536];

export function oddBytes(sizes: readonly number[] = SIZES): Arbitrary<OddBytes> {
  return fc.record({
    kind: fc.constantFrom(...KINDS),
    size: fc.oneof(fc.constantFrom(...sizes), fc.nat(5_000)),
    seed: fc.nat(2 ** 31 - 1),
  });
}

export function bytesOf({ kind, size, seed }: OddBytes): Buffer {
  if (kind === "zeros") return Buffer.alloc(size);
  if (kind === "ones") return Buffer.alloc(size, 0xff);
  if (kind === "text") return Buffer.alloc(size, "words, not sound ");
  if (kind === "wav") return Buffer.from(makeWav({ frames: Math.min(size, 8_000), seed }));
  const noise = noiseOf(size, seed);
  if (kind === "bent wav") return bent(Buffer.from(makeWav({ frames: size % 4_000, seed })), seed);
  if (kind === "magic") {
    const magic = Buffer.from(MAGIC[seed % MAGIC.length] ?? "", "latin1");
    return Buffer.concat([magic, noise]).subarray(0, size);
  }
  return kind === "packets" ? packets(noise) : noise;
}

/** The same seed gives the same bytes (xorshift). */
function noiseOf(size: number, seed: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = (seed | 1) >>> 0;
  for (let at = 0; at < size; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state & 0xff;
  }
  return bytes;
}

/** A WAV file with a few bytes of its header changed. */
function bent(wav: Buffer, seed: number): Buffer {
  const changes = noiseOf(8, seed);
  for (let n = 0; n < 4; n += 1) wav[(changes[2 * n] ?? 0) % 44] = changes[2 * n + 1] ?? 0;
  return seed % 3 === 0 ? wav.subarray(0, (seed >>> 4) % wav.length) : wav;
}

/** Pieces with the length before each, of which the last says more than there is. */
function packets(noise: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < noise.length; at += 60) {
    const piece = noise.subarray(at, at + 60);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(at + 60 < noise.length ? piece.length : piece.length + 1);
    parts.push(length, piece);
  }
  return Buffer.concat(parts);
}
