import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MOST_HEAD_BYTES, markedContainer } from "../../../../src/base/audio/container-marks.ts";
import { voiceLike } from "../../../support/opus-variety.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";

const STARTS = 1_000_000;

/** `starts` beginnings of one long sound, each at another frame of it; those that look like a file. */
function markedStarts(sound: Uint8Array, frameBytes: number, starts: number): string[] {
  const found: string[] = [];
  for (let start = 0; start < starts; start += 1) {
    const from = start * frameBytes;
    const mark = markedContainer(sound.subarray(from, from + MOST_HEAD_BYTES));
    if (mark !== "none") found.push(`${mark} at ${from}`);
  }
  return found;
}

/** Room for so many starts. */
const samplesFor = (starts: number, frameBytes: number) =>
  starts + Math.ceil(MOST_HEAD_BYTES / frameBytes);

function pcmOf(sample: (at: number) => number, starts: number): Uint8Array {
  const samples = Int16Array.from({ length: samplesFor(starts, 2) }, (_, at) => sample(at));
  return new Uint8Array(samples.buffer);
}

/** Noise of about this level, as far as 16 bits go. */
function noise(level: number, random: SeededRandom): () => number {
  return () => Math.round(level * (random.next() + random.next() + random.next() - 1.5));
}

/** ITU-T G.711. */
function toMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

const toBytes = (text: string) => Buffer.from(text, "latin1");

describe("container marks", () => {
  it.each([
    ["Ogg", toBytes("OggS\0\x02")],
    ["WebM", Buffer.from("1a45dfa3a3428681", "hex")],
    ["WAV", toBytes("RIFF\x24\x08\0\0WAVEfmt ")],
    ["FLAC", toBytes("fLaC\0\0\0\x22")],
    ["MP4", toBytes("\0\0\0\x18ftypM4A ")],
    ["MP3", Buffer.concat([toBytes("ID3\x04\0\0"), Buffer.from("00002354", "hex")])],
  ] as const)("container marks: %s is known as soon as its mark is there", (name, head) => {
    const marks = Array.from(head, (_, end) => markedContainer(head.subarray(0, end)));
    const first = [...marks, markedContainer(head)].indexOf(name);
    expect(first).toBeGreaterThanOrEqual(4);
    expect(first).toBeLessThanOrEqual(10);
    expect(new Set(marks.slice(0, first))).toEqual(new Set(["more"]));
    expect(new Set([...marks.slice(first), markedContainer(head)])).toEqual(new Set([name]));
  });

  it.each([
    ["MPEG-1 layer III, 128 kbit/s at 44.1 kHz", "fffb9064", 417],
    ["MPEG-1 layer III, 320 kbit/s at 32 kHz", "fffbe844", 1_440],
    ["MPEG-1 layer II, 192 kbit/s at 48 kHz", "fffda404", 576],
    ["MPEG-2 layer III, 64 kbit/s at 22.05 kHz, padded, mono", "fff382c4", 209],
    ["MPEG-2.5 layer III, 8 kbit/s at 8 kHz", "ffe31804", 72],
    ["MPEG-2.5 layer II, 160 kbit/s at 8 kHz", "ffe5e804", 2_880],
  ])("container marks: %s is known by its second header", (_name, hex, length) => {
    const header = Buffer.from(hex, "hex");
    const frame = Buffer.concat([header, Buffer.alloc(length - 4, 0x55)]);
    const stream = Buffer.concat([frame, header]);
    expect(markedContainer(stream.subarray(0, -1))).toBe("more");
    expect(markedContainer(stream)).toBe("MP3");
    expect(stream.byteLength).toBeLessThanOrEqual(MOST_HEAD_BYTES);
    // Another second header, or the same one elsewhere, is chance.
    const other = Buffer.from(header);
    other[2] = (other[2] ?? 0) ^ 0x0c;
    expect(markedContainer(Buffer.concat([frame, other]))).toBe("none");
    expect(markedContainer(Buffer.concat([frame.subarray(1), header, frame]))).toBe("none");
    expect(markedContainer(Buffer.concat([frame, Buffer.alloc(1), header]))).toBe("none");
  });

  it("container marks: a million starts of PCM and µ-law, random, loud, quiet or spoken, are none", () => {
    const random = new SeededRandom(20_261);
    const each = STARTS / 10;
    const quiet = [0.7, 2, 20, 200].map((level) => pcmOf(noise(level, random), each));
    const dither = pcmOf(() => random.below(3) - 1, each);
    const any = pcmOf(() => random.below(65_536) - 32_768, each);
    const voice = voiceLike(samplesFor(each, 2), 16_000, random);
    const spoken = readFileSync(
      new URL("../../../../deploy/demo/conversation.wav", import.meta.url),
    ).subarray(44);
    const found = [...quiet, dither, any, new Uint8Array(voice.buffer), spoken].flatMap((sound) =>
      markedStarts(sound, 2, each),
    );
    const hiss = noise(60, random);
    const muLaw = Uint8Array.from({ length: samplesFor(each, 1) }, () => toMuLaw(hiss()));
    const line = Uint8Array.from({ length: samplesFor(each, 1) }, (_, at) =>
      toMuLaw(spoken.readInt16LE(2 * at)),
    );
    found.push(...[muLaw, line].flatMap((sound) => markedStarts(sound, 1, each)));
    expect(found).toEqual([]);
  });

  it("container marks: silence and everything that never changes is none", () => {
    const found: string[] = [];
    for (let sample = 0; sample < 65_536; sample += 1) {
      const head = Buffer.alloc(MOST_HEAD_BYTES, Buffer.from(Uint16Array.of(sample).buffer));
      const stereo = Buffer.alloc(
        MOST_HEAD_BYTES,
        Buffer.from(Uint16Array.of(sample, 65_535 - sample).buffer),
      );
      if (markedContainer(head) !== "none") found.push(`mono ${sample}`);
      if (markedContainer(stereo) !== "none") found.push(`stereo ${sample}`);
    }
    for (const silence of [0xff, 0x7f, 0xfe, 0x00]) {
      const mark = markedContainer(Buffer.alloc(MOST_HEAD_BYTES, silence));
      if (mark !== "none") found.push(`µ-law ${silence}`);
    }
    expect(found).toEqual([]);
  });
});
