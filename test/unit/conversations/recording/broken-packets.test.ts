import { describe, expect, it } from "vitest";
import { joinOpusPackets } from "../../../../src/base/audio/opus-packets.ts";
import { brokenPackets } from "../../../../src/conversations/recording/stream-packets.ts";

/** 20 ms of silence (CELT, full band). */
const GOOD = Uint8Array.of(0xf8, 0xff, 0xfe);
/** Says that it holds 63 frames of 20 ms. */
const BAD = Uint8Array.of(0x0b, 0xff, 1);
const MS = 16;

/** One letter a packet: what of it is broken, in milliseconds. */
function broken(letters: string) {
  const packets = [...letters].map((letter) => (letter === "x" ? BAD : GOOD));
  const found = brokenPackets(joinOpusPackets(packets), 16_000);
  return found?.spans.map(({ start, length }) => [start / MS, (start + length) / MS]);
}

describe("broken packets", () => {
  it("broken packets: none in what is good", () => {
    expect(broken("....")).toBeUndefined();
    expect(brokenPackets(new Uint8Array(0), 16_000)).toBeUndefined();
  });

  it("broken packets: told as spans, those with little between them as one", () => {
    expect(broken("..x.................xx........x")).toEqual([
      [40, 60],
      [400, 620],
    ]);
    expect(broken(`${"x".padEnd(20, ".").repeat(100)}`)).toHaveLength(64);
  });

  it("broken packets: a chunk fails when more than half of its time is broken", () => {
    const of = (letters: string) =>
      brokenPackets(joinOpusPackets([...letters].map((l) => (l === "x" ? BAD : GOOD))), 16_000);
    expect(of("xx..")?.unreadable).toBeUndefined();
    expect(of("xxx..")?.unreadable).toMatch(/^Only 2 of the chunk's 5 packets can be decoded/);
    expect(of("xx")?.unreadable).toMatch(/^None of the chunk's 2 packets can be decoded/);
  });
});
