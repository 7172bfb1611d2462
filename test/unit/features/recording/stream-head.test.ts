import { describe, expect, it } from "vitest";
import { StreamHead } from "../../../../src/features/recording/stream-head.ts";
import type { StreamSettings } from "../../../../src/features/recording/stream-records.ts";
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
