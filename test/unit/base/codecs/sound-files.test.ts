import { beforeAll, describe, expect, it } from "vitest";
import { channelOf } from "../../../../src/base/audio/pcm-samples.ts";
import { openSoundFile } from "../../../../src/base/codecs/sound-file.ts";
import { soundKind } from "../../../../src/base/codecs/sound-kinds.ts";
import { loadDecoders, SoundReader } from "../../../../src/base/codecs/sound-reader.ts";
import {
  decodedSound,
  envelope,
  likeness,
  opened,
  SOUND_FILES,
  SOUND_NAMES,
  soundBytes,
} from "../../../support/sound-files.ts";

const SECONDS = 1.4;

beforeAll(() => loadDecoders());

describe("sound files", () => {
  for (const name of SOUND_NAMES) {
    const { mediaType, sampleRate, channels } = SOUND_FILES[name];

    it(`sound files: ${name} is measured without decoding, and decodes to that length`, () => {
      const file = opened(soundBytes(name));
      expect(file).toMatchObject({ mediaType, sampleRate, channels });
      expect(Math.abs(file.frames / sampleRate - SECONDS)).toBeLessThan(0.02);
      expect(decodedSound(soundBytes(name)).length).toBe(file.frames * channels);
    });

    it(`sound files: ${name} says the same as the lossless one, at the same time`, () => {
      const lossless = envelope(decodedSound(soundBytes("mono-16000.flac")), 16_000);
      const heard = envelope(decodedSound(soundBytes(name)), sampleRate, channels);
      expect(likeness(lossless, heard)).toBeGreaterThan(0.97);
      for (const shift of [2, -2]) {
        const [one, other] = shift > 0 ? [lossless, heard.slice(2)] : [lossless.slice(2), heard];
        expect(likeness(one, other)).toBeLessThan(0.95);
      }
    });

    it(`sound files: a truncated ${name} is as long as what is there`, () => {
      const whole = soundBytes(name);
      const file = opened(whole.subarray(0, whole.length / 2));
      expect(file.frames / sampleRate).toBeGreaterThan(0.2);
      expect(file.frames / sampleRate).toBeLessThan(1.1);
      const samples = decodedSound(whole.subarray(0, whole.length / 2));
      expect(samples.length).toBe(file.frames * channels);
    });
  }

  it("sound files: channels stay apart", () => {
    for (const name of ["left-16000.mp3", "left.webm"] as const) {
      const samples = decodedSound(soundBytes(name));
      const [left, right] = [0, 1].map((channel) => channelOf(samples, channel, 2));
      const loudest = (all?: Int16Array) => Math.max(...(all ?? []).map(Math.abs));
      expect(loudest(left)).toBeGreaterThan(5_000);
      expect(loudest(right)).toBeLessThan(300);
    }
  });

  it("sound files: other kinds are named", () => {
    const kinds: [Buffer, unknown][] = [
      [Buffer.from("\0\0\0\x20ftypM4A "), { refused: "MP4/M4A (AAC)" }],
      [Buffer.from([0xff, 0xf1, 0x50, 0x80]), { refused: "AAC" }],
      [Buffer.from("#!AMR\n"), { refused: "AMR" }],
      [Buffer.from("hello, world"), undefined],
    ];
    for (const [bytes, kind] of kinds) expect(soundKind(bytes)).toEqual(kind);
  });

  it("sound files: two thousand mutated files are measured or refused, and decode to their length", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const outcomes = { read: 0, refused: 0 };
    for (let round = 0; round < 2_000; round += 1) {
      const bytes = Buffer.from(soundBytes(SOUND_NAMES[round % SOUND_NAMES.length] ?? "mono.opus"));
      for (let each = random(12); each >= 0; each -= 1) bytes[random(bytes.length)] = random(256);
      const cut = random(3) === 0 ? bytes.subarray(random(bytes.length)) : bytes;
      const file = openSoundFile(random(4) === 0 ? cut.subarray(0, random(cut.length)) : cut);
      if ("error" in file || file.frames > 50 * file.sampleRate) {
        outcomes.refused += 1;
        continue;
      }
      if (round % 10 !== 0) continue;
      outcomes.read += 1;
      expect(readLength(file, cut)).toBe(file.frames);
    }
    expect(outcomes.read).toBeGreaterThan(50);
    expect(outcomes.refused).toBeGreaterThan(50);
  });
});

/** Frames that a reader gives; its refusal of damaged headers counts as all of them. */
function readLength(
  file: Extract<ReturnType<typeof openSoundFile>, { codec: string }>,
  bytes: Uint8Array,
): number {
  let frames = 0;
  try {
    const reader = new SoundReader(file, bytes);
    for (let part = reader.read(48_000); part.length > 0; part = reader.read(48_000)) {
      frames += part.length / file.channels;
    }
    reader.close();
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return file.frames;
  }
  return frames;
}
