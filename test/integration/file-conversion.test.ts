import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadDecoders } from "../../src/base/codecs/sound-reader.ts";
import { FileConverter } from "../../src/conversations/recording/audio-files/file-converter.ts";
import {
  BUNDLED,
  decodeBundled,
  decodeSpoken,
  FIXTURES,
  WAV_HEADER_BYTES,
} from "../support/bundled-decoder.ts";
import { withExternalSound } from "../support/external-mp4.ts";
import { readJoined } from "../support/joined-file.ts";

const RATE = 16_000;
const NEVER = new AbortController().signal;

describe("files of other formats, by the decoder that every installation has", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-conversion-"));
    await loadDecoders();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function written(name: string, bytes: Uint8Array | string): string {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  }

  const decode = (input: string, options?: { outputBytes?: number; longestMs?: number }) =>
    decodeBundled(folder, input, options);

  it("is there without FFmpeg", () => {
    expect(BUNDLED.name).toBe("@ffmpeg/core");
  });

  it("mono.m4a says what its source says", async () => {
    const decoded = await decodeSpoken(folder, "mono.m4a");
    expect(decoded).toMatchObject({ sampleRate: RATE, channels: 1 });
    expect(decoded.bytes).toBe(WAV_HEADER_BYTES + 2 * decoded.frames);
    expect(decoded.likeness).toBeGreaterThan(0.97);
    expect(Math.abs(decoded.longerBySeconds)).toBeLessThan(0.2);
  });

  it.each([
    ["a playlist", "#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n"],
    ["zeros", new Uint8Array(100_000)],
    ["a beginning alone", readFileSync(new URL("front.mp4", FIXTURES)).subarray(0, 900)],
  ])("%s is none, and opens nothing else", async (name, bytes) => {
    const path = written(`${name}.m4a`, bytes);
    const reason = await decode(path).then(
      ({ shape }) => shape,
      (error: { reason: string }) => error.reason,
    );
    expect(reason).toBe("undecodable");
  });

  it("one whose sound lies in another file is none: that file is not opened", async () => {
    const inside = readFileSync(new URL("mono.m4a", FIXTURES));
    // At the places that the index names, the other file has the sound.
    const outside = written("outside.m4a", inside);
    const failed = decode(written("reference.m4a", withExternalSound(inside, outside)));
    await expect(failed).rejects.toMatchObject({ reason: "undecodable" });
  });

  it("one that would be longer than is taken is given up", async () => {
    const failed = decode(new URL("mono.m4a", FIXTURES).pathname, { outputBytes: 8_000 });
    await expect(failed).rejects.toMatchObject({ reason: "too_large" });
  });

  it("one that takes too long is given up, with its process", async () => {
    const failed = decode(new URL("mono.m4a", FIXTURES).pathname, { longestMs: 1 });
    await expect(failed).rejects.toMatchObject({
      reason: "too_large",
      message: "It takes too long to decode.",
    });
  });

  it("two M4A files in one are read whole", async () => {
    const place = mkdtempSync(join(folder, "place-"));
    const converter = new FileConverter({ folder: place, program: BUNDLED });
    const memo = readFileSync(new URL("mono.m4a", FIXTURES));
    const { durationSeconds } = await readJoined([memo, memo], converter);
    expect(durationSeconds / 2).toBeGreaterThan(1.35);
    expect(durationSeconds / 2).toBeLessThan(1.55);
    expect(readdirSync(place)).toEqual([]);
  });

  it("leaves nothing behind, whoever goes and whatever fails; the same file gives the same", async () => {
    const place = mkdtempSync(join(folder, "place-"));
    const converter = new FileConverter({ folder: place, program: BUNDLED });
    const order = { accountId: "a", seconds: 60, signal: NEVER };
    const data = readFileSync(new URL("mono.m4a", FIXTURES));
    const [one, two] = await Promise.all(
      ["a", "b"].map((accountId) =>
        converter.convert({ kind: "memory", data }, { ...order, accountId }),
      ),
    );
    const [first, second] = [one, two].map((file) => readFileSync(file?.path ?? ""));
    expect(first?.byteLength).toBe(one?.bytes);
    expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
    for (const file of [one, two]) rmSync(file?.path ?? "");
    const gone = AbortSignal.timeout(1);
    const left = converter.convert({ kind: "memory", data }, { ...order, signal: gone });
    await expect(left).rejects.toThrow();
    const noise = converter.convert({ kind: "memory", data: Buffer.from("noise") }, order);
    await expect(noise).rejects.toMatchObject({ code: "not_audio" });
    expect(readdirSync(place)).toEqual([]);
    expect(converter.queues).toMatchObject([{ length: 0 }]);
    expect(existsSync(place)).toBe(true);
  });
});
