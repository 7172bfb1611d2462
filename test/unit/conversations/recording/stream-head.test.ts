import { describe, expect, it } from "vitest";
import { wavFileHeader } from "../../../../src/base/audio/wav.ts";
import { StreamHead } from "../../../../src/conversations/recording/stream-head.ts";
import type { StreamSettings } from "../../../../src/conversations/recording/stream-records.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";

const PCM: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: true,
};

function samples(count: number, valueAt: (index: number) => number): Uint8Array {
  return new Uint8Array(Int16Array.from({ length: count }, (_, at) => valueAt(at)).buffer);
}

describe("stream head", () => {
  it("stream head: text sent as PCM is refused with what to send", () => {
    const sound = samples(800, (at) => Math.round(9_000 * Math.sin(at / 9)));
    const texts = [
      Buffer.from(sound).toString("base64"),
      Buffer.from(sound).toString("hex"),
      JSON.stringify({ audio: Buffer.from(sound).toString("base64") }),
    ];
    for (const text of texts) {
      expect(() => new StreamHead(PCM).take(Buffer.from(text))).toThrow(
        /looks like text .* Send 16-bit little-endian samples/,
      );
    }
  });

  it("stream head: a WAV header before samples of the same format is left out, in any cutting", () => {
    const sound = Buffer.from(samples(800, (at) => Math.round(9_000 * Math.sin(at / 9))));
    const header = wavFileHeader({ sampleRate: 16_000, channels: 1, frames: 0 });
    const list = Buffer.from("LIST\x04\0\0\0INFO", "latin1");
    const long = Buffer.concat([header.subarray(0, 36), list, header.subarray(36)]);
    for (const [head, step] of [
      [header, 1],
      [header, 44],
      [long, 17],
      [long, 4_000],
    ] as const) {
      const stream = Buffer.concat([head, sound]);
      const opening = new StreamHead(PCM);
      let at = 0;
      let taken: Uint8Array[] | undefined;
      for (; taken === undefined; at += step) taken = opening.take(stream.subarray(at, at + step));
      expect(opening.skipped).toBe(head.length);
      expect(Buffer.concat([...taken, stream.subarray(at)]).equals(sound)).toBe(true);
    }
  });

  it("stream head: a WAV header of another format is refused, with both", () => {
    const header = wavFileHeader({ sampleRate: 44_100, channels: 2, frames: 0 });
    expect(() => new StreamHead(PCM).take(header)).toThrow(
      /another format \(s16le, 44100 Hz, 2 channels\) than its Configure \(pcm_s16le, 16000 Hz/,
    );
    expect(() => new StreamHead({ ...PCM, encoding: "opus" }).take(header)).toThrow(/a WAV file/);
    const other = Buffer.from("RIFF\x04\0\0\0AVI LIST", "latin1");
    expect(() => new StreamHead(PCM).take(other)).toThrow(/looks like a WAV file/);
  });

  it("stream head: samples whose bytes may be letters are sound all the same", () => {
    for (let value = -32_768; value < 32_768; value += 1) {
      const constant = samples(128, () => value);
      expect(new StreamHead(PCM).take(constant)).toEqual([constant]);
    }
    const square = samples(128, (at) => (at % 40 < 20 ? 0x4141 : 0x5a5a));
    expect(new StreamHead(PCM).take(square)).toEqual([square]);
    const random = new SeededRandom(7);
    for (let round = 0; round < 20_000; round += 1) {
      const loud = samples(128, () => 0x2020 + random.below(0x5f5f));
      expect(new StreamHead(PCM).take(loud)).toEqual([loud]);
    }
  });
});
