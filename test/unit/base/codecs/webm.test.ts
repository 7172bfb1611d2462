import { describe, expect, it, vi } from "vitest";
import { readWebm } from "../../../../src/base/codecs/webm.ts";
import { soundBytes } from "../../../support/sound-files.ts";

/** A block of a track that is not there, and a Void whose length is damaged. */
const UNIT = Buffer.from("00a3858100000008ec80", "hex");

describe("WebM that is damaged on purpose", () => {
  it("is searched for the next cluster once, however often reading loses its way", () => {
    const bytes = Buffer.concat([soundBytes("left.webm"), ...Array<Buffer>(20_000).fill(UNIT)]);
    let searched = 0;
    const { indexOf } = Buffer.prototype;
    vi.spyOn(Buffer.prototype, "indexOf").mockImplementation(function (this: Buffer, value, from) {
      searched += this.byteLength - Number(from);
      return indexOf.call(this, value as string, from as number);
    });
    try {
      expect(readWebm(bytes).skipped).toBeGreaterThan(10_000);
    } finally {
      vi.restoreAllMocks();
    }
    expect(searched).toBeLessThan(4 * bytes.byteLength);
  });

  it("with groups in groups is read to its end", () => {
    const bytes = Buffer.concat([Buffer.from("00", "hex"), Buffer.alloc(200_000, "a080", "hex")]);
    expect(readWebm(bytes)).toMatchObject({ packets: [], codec: undefined });
  });
});
