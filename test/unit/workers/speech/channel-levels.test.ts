import { describe, expect, it } from "vitest";
import { ChannelLevels } from "../../../../workers/speech/channel-levels.ts";

const FRAME = 160;
const FRAMES = 100;
const WHOLE = { start: 0, end: FRAMES * FRAME };

/** Loud and soft in turn like syllables, about `amplitude`. */
function speech(amplitude: number, period: number): (frame: number) => number {
  return (frame) => amplitude * (0.05 + Math.sin((frame * Math.PI) / period) ** 2);
}

function levels(...amplitudes: ((frame: number) => number)[]): ChannelLevels {
  const all = new ChannelLevels(amplitudes.length, 0);
  for (let frame = 0; frame < FRAMES; frame++) {
    all.push(amplitudes.map((amplitude) => new Int16Array(FRAME).fill(amplitude(frame))));
  }
  return all;
}

describe("channel levels", () => {
  it("channel levels: the same curve at a lower level is the other's voice", () => {
    const heard = levels(speech(8_000, 13), speech(2_000, 13));
    expect(heard.isBleed(1, WHOLE)).toBe(true);
    expect(heard.isBleed(0, WHOLE)).toBe(false);
    expect(heard.isBleedAt(1, 60 * FRAME)).toBe(true);
    expect(heard.isBleedAt(0, 60 * FRAME)).toBe(false);
  });

  it("channel levels: another curve is a voice of its own, as long as it is not far quieter", () => {
    const heard = levels(speech(8_000, 13), speech(4_000, 9));
    expect(heard.isBleed(1, WHOLE)).toBe(false);
    expect(levels(speech(8_000, 13), speech(800, 9)).isBleed(1, WHOLE)).toBe(true);
  });

  it("channel levels: one channel, silence and equal channels are never another's voice", () => {
    expect(levels(speech(8_000, 13)).isBleed(0, WHOLE)).toBe(false);
    const equal = levels(speech(8_000, 13), speech(8_000, 13), () => 0);
    expect(equal.isBleed(0, WHOLE)).toBe(false);
    expect(equal.isBleed(1, WHOLE)).toBe(false);
    expect(
      levels(
        () => 0,
        () => 0,
      ).isBleed(1, WHOLE),
    ).toBe(false);
  });

  it("channel levels: what was before a new beginning counts no more", () => {
    const heard = levels(speech(8_000, 13), speech(2_000, 13));
    heard.beginAt(FRAMES * FRAME);
    expect(heard.at(0, FRAMES * FRAME)).toBe(0);
    heard.push([new Int16Array(FRAME).fill(10), new Int16Array(FRAME).fill(20)]);
    expect(heard.at(1, FRAMES * FRAME)).toBe(400);
    expect(heard.isBleedAt(1, FRAMES * FRAME)).toBe(false);
  });
});
