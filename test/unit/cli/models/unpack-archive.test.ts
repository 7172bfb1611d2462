import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Model } from "../../../../src/cli/models/manifest.ts";
import { unpackArchive } from "../../../../src/cli/models/unpack-archive.ts";

const ARCHIVES = join(import.meta.dirname, "../../../fixtures/archives");
const ENCODER = Buffer.from("sound and words ".repeat(200));
const TOKENS = Buffer.from("a\nb\n");
const MODEL: Model = {
  id: "small",
  title: "A small model",
  licence: { name: "MIT", url: "https://models.test/licence" },
  files: [
    { path: "net/encoder.onnx", ...lineOf(ENCODER) },
    { path: "tokens.txt", ...lineOf(TOKENS) },
  ],
};

function lineOf(content: Buffer) {
  return { bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") };
}

describe("archive of a model", () => {
  let target: string;
  beforeEach(() => {
    target = mkdtempSync(join(tmpdir(), "voice-archive-"));
  });
  afterEach(() => rmSync(target, { recursive: true }));

  const unpack = (path: string, signal = new AbortController().signal, progress: number[] = []) => {
    const archive = {
      ...{ url: "https://models.test/small.tar.bz2", root: "small-model" },
      ...lineOf(Buffer.from("?")),
    };
    const onProgress = (bytes: number) => progress.push(bytes);
    return unpackArchive(MODEL, archive, { path, target, signal, onProgress });
  };
  const fixture = (name: string) => join(ARCHIVES, `${name}.tar.bz2`);
  const unpacked = () => readdirSync(target, { recursive: true }).sort();

  it("gives the files of the manifest, and nothing else that it holds", async () => {
    const progress: number[] = [];
    await unpack(fixture("good"), undefined, progress);
    expect(unpacked()).toEqual(["net", "net/encoder.onnx", "tokens.txt"]);
    expect(readFileSync(join(target, "net/encoder.onnx"))).toEqual(ENCODER);
    expect(readFileSync(join(target, "tokens.txt"))).toEqual(TOKENS);
    expect(progress.at(-1)).toBe(readFileSync(fixture("good")).length);
  });

  it.each([
    ["link", "its small-model/tokens.txt is no file, but a symlink"],
    ["hard-link", "its small-model/tokens.txt is no file, but a link"],
    ["longer", "its small-model/tokens.txt has 6 bytes, and not the 4 of the manifest"],
    ["other", /its tokens\.txt is not what the manifest tells \(SHA-256 [0-9a-f]{64} instead/],
    ["twice", "it holds small-model/tokens.txt twice"],
    ["lacking", "it holds no file small-model/tokens.txt"],
    ["bomb", "it holds more than the manifest tells"],
  ])("%s: is refused with a sentence, and leaves no file of a wrong content", async (name, why) => {
    const failure = await unpack(fixture(name)).catch(String);
    expect(failure).toContain("The archive https://models.test/small.tar.bz2 cannot be unpacked: ");
    expect(failure).toMatch(why);
    const files = unpacked().filter((path) => path !== "net");
    for (const path of files) {
      expect(readFileSync(join(target, String(path)))).toEqual(
        path === "tokens.txt" ? TOKENS : ENCODER,
      );
    }
  });

  it.each([
    ["cut", (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ["with a flipped byte", (whole: Buffer) => Buffer.from(whole).fill(0x55, 60, 64)],
    ["no archive", () => Buffer.from("<html>Not found</html>")],
    ["empty", () => Buffer.alloc(0)],
  ])("%s: is refused", async (_name, change) => {
    const path = join(target, "small.tar.bz2");
    writeFileSync(path, change(readFileSync(fixture("good"))));
    await expect(unpack(path)).rejects.toThrow("cannot be unpacked: ");
    expect(unpacked()).not.toContain("tokens.txt");
  });

  it("ends when it is told to", async () => {
    const stop = new AbortController();
    stop.abort(new Error("stopped by its caller"));
    await expect(unpack(fixture("good"), stop.signal)).rejects.toThrow("stopped by its caller");
    expect(unpacked().filter((path) => String(path).endsWith(".part"))).toEqual([]);
  });
});
