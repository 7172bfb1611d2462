import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseWavHeader, wavFileHeader } from "../../../src/base/audio/wav.ts";
import { loadDecoders } from "../../../src/base/codecs/sound-reader.ts";
import { FileConverter } from "../../../src/conversations/recording/audio-files/file-converter.ts";
import {
  BUNDLED,
  decodeBundled,
  decodeSpoken,
  WAV_HEADER_BYTES,
} from "../../support/bundled-decoder.ts";
import { readJoined } from "../../support/joined-file.ts";
import { decodedSound, soundBytes } from "../../support/sound-files.ts";

const RATE = 16_000;
const NEVER = new AbortController().signal;

/** The rest of those in `file-conversion.test.ts`. */
const OTHERS = [
  "mono.wma",
  "adpcm.wav",
  "front.mp4",
  "mono.3gp",
  "mono.aac",
  "alac.caf",
  "mono.aiff",
  "mono.mka",
  "narrow.amr",
  "wide.amr",
  "narrow.3gp",
];

/** A WAV file of constant values, one for each channel. */
function wavOf(values: readonly number[], frames: number): Buffer {
  const samples = new Int16Array(frames * values.length);
  for (let at = 0; at < samples.length; at += 1) samples[at] = values[at % values.length] ?? 0;
  const head = wavFileHeader({ sampleRate: RATE, channels: values.length, frames });
  return Buffer.concat([head, new Uint8Array(samples.buffer)]);
}

describe("file formats", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-formats-"));
    await loadDecoders();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(OTHERS)("%s says what its source says", async (name) => {
    const decoded = await decodeSpoken(folder, name);
    expect(decoded).toMatchObject({ sampleRate: 16_000, channels: 1 });
    expect(decoded.likeness).toBeGreaterThan(0.97);
    expect(Math.abs(decoded.longerBySeconds)).toBeLessThan(0.2);
  });

  it.each(["he-aac.m4a", "he-aac-v2.m4a"])(
    "%s says it, in stereo as it may have two sides",
    async (name) => {
      const decoded = await decodeSpoken(folder, name);
      expect(decoded).toMatchObject({ sampleRate: 16_000, channels: 2 });
      expect(decoded.likeness).toBeGreaterThan(0.97);
      expect(Math.abs(decoded.longerBySeconds)).toBeLessThan(0.2);
    },
  );

  it.each([
    ["a list of parts", "ffconcat version 1.0\nfile '/etc/hostname'\n"],
    ["a text", "no sound, but many words. ".repeat(500)],
  ])("%s is none, and opens nothing else", async (name, bytes) => {
    const path = join(folder, `${name}.m4a`);
    writeFileSync(path, bytes);
    const decoded = decodeBundled(folder, path);
    await expect(decoded).rejects.toMatchObject({ reason: "undecodable" });
  });

  it("several recordings in one file become one sound, in stereo where one of them is", async () => {
    const place = mkdtempSync(join(folder, "place-"));
    const converter = new FileConverter({ folder: place, program: BUNDLED });
    const files = [soundBytes("mono-16000.flac"), wavOf([-8_000, 4_000], 16_000)];
    const [first = Buffer.alloc(0)] = files;
    const order = { accountId: "a", seconds: 60, signal: NEVER };
    const content = { kind: "memory" as const, data: Buffer.concat(files) };
    const sound = await converter.convert(content, order, [first.length]);
    const bytes = readFileSync(sound.path);
    const alone = decodedSound(first);
    expect(sound).toMatchObject({ channels: 2, frames: alone.length + 16_000 });
    expect(parseWavHeader(bytes)).toMatchObject({ channels: 2, frames: sound.frames });
    const samples = new Int16Array(Uint8Array.from(bytes.subarray(WAV_HEADER_BYTES)).buffer);
    const begin = samples.subarray(0, 2 * alone.length);
    expect(begin.filter((_, at) => at % 2 === 0)).toEqual(alone);
    expect(begin.filter((_, at) => at % 2 === 1)).toEqual(alone);
    expect([...samples.subarray(-2)]).toEqual([-8_000, 4_000]);
    rmSync(sound.path);
    const broken = converter.convert(
      { kind: "memory", data: Buffer.concat([first, Buffer.from("RIFF....WAVE")]) },
      order,
      [first.length],
    );
    await expect(broken).rejects.toMatchObject({
      code: "not_audio",
      message: expect.stringMatching(/^Recording 2 of the file, after 1\.4 s: /),
    });
    const short = converter.convert(content, { ...order, seconds: 1 }, [first.length]);
    await expect(short).rejects.toMatchObject({ code: "payload_too_large" });
    expect(readdirSync(place)).toEqual([]);
  });

  it.each([
    ["MP4 and M4A", [soundBytes("front.mp4"), soundBytes("mono.m4a")]],
    ["Matroska twice", [soundBytes("mono.mka"), soundBytes("mono.mka")]],
    [
      "M4A, Opus in WebM and Matroska",
      [soundBytes("mono.m4a"), soundBytes("left.webm"), soundBytes("mono.mka")],
    ],
  ])("%s in one file are read whole", async (_name, files) => {
    const converter = new FileConverter({
      folder: mkdtempSync(join(folder, "place-")),
      program: BUNDLED,
    });
    const { durationSeconds } = await readJoined(files, converter);
    // Each says the same sentence, of 1.4 s.
    expect(durationSeconds / files.length).toBeGreaterThan(1.35);
    expect(durationSeconds / files.length).toBeLessThan(1.55);
  });

  it("more in one file than are read are told, with the place of the second", async () => {
    const memo = soundBytes("mono.m4a");
    const converter = new FileConverter({ folder, program: BUNDLED });
    await expect(readJoined(Array(30).fill(memo), converter)).rejects.toMatchObject({
      code: "not_audio",
      message: expect.stringMatching(
        `^The file holds 21 recordings .* from byte ${memo.length} on`,
      ),
    });
  });

  it("whoever brings many has them decoded in turn with others', and is told when they are too many", async () => {
    const place = mkdtempSync(join(folder, "place-"));
    const converter = new FileConverter({ folder: place, program: BUNDLED });
    const data = Buffer.from("noise");
    const ends: string[] = [];
    const begin = (accountId: string) =>
      converter
        .convert({ kind: "memory", data }, { accountId, seconds: 60, signal: NEVER })
        .catch((error: { code: string }) => ends.push(`${accountId} ${error.code}`));
    const many = Array.from({ length: 6 }, () => begin("many"));
    await Promise.all([...many, begin("one")]);
    expect(ends.filter((end) => end === "many overloaded")).toHaveLength(1);
    const places = ends.filter((end) => !end.endsWith("overloaded"));
    // One of the first's runs and four wait: the other one has a place of its own.
    expect(places).toHaveLength(6);
    expect(places.indexOf("one not_audio")).toBeLessThan(3);
  });
});
