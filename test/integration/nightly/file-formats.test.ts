import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadDecoders } from "../../../src/base/codecs/sound-reader.ts";
import { decodeSpoken } from "../../support/bundled-decoder.ts";

/** The rest of those in `file-conversion.test.ts`. */
const OTHERS = ["front.mp4", "mono.3gp", "mono.aac", "alac.caf", "mono.aiff", "mono.mka"];

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
});
