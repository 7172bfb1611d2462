import { describe, expect, it } from "vitest";
import { peaksOf, wavHeader } from "../../../src/web/views/session/model/wav-sound.ts";

describe("sound in the page", () => {
  it("peaks: the loudest of each tenth of a second", () => {
    const samples = new Int16Array(2_400);
    samples[10] = -16_384;
    samples[1_700] = 8_192;
    expect([...peaksOf(samples)]).toEqual([0.5, 0.25]);
  });

  it("header: a WAV file of 16 kHz, mono, 16 bits", () => {
    const bytes = Buffer.from(wavHeader(320));
    expect(bytes.toString("latin1", 0, 4)).toBe("RIFF");
    expect([bytes.readUInt32LE(24), bytes.readUInt16LE(34), bytes.readUInt32LE(40)]).toEqual([
      16_000, 16, 320,
    ]);
  });
});
