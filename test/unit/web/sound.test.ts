import { describe, expect, it } from "vitest";
import { UnstoredSound } from "../../../src/web/views/record/unstored-sound.ts";
import { peaksOf, wavHeader } from "../../../src/web/views/session/model/wav-sound.ts";

describe("sound in the page", () => {
  it("unstored: keeps what is not acknowledged, and reads it again from any byte", () => {
    const sound = new UnstoredSound();
    sound.push(new Uint8Array([0, 1, 2, 3]));
    sound.push(new Uint8Array([4, 5, 6]));
    expect([...sound.read(2, 10)]).toEqual([2, 3]);
    sound.forget(5);
    expect([sound.bytes, sound.end, sound.reaches(4), sound.reaches(7)]).toEqual([
      2,
      7,
      false,
      true,
    ]);
    expect([...sound.read(5, 10), ...sound.read(7, 10)]).toEqual([5, 6]);
    sound.forget(99);
    expect(sound.bytes).toBe(0);
  });

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
