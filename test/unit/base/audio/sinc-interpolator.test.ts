import { describe, expect, it } from "vitest";
import { SincInterpolator } from "../../../../src/base/audio/sinc-interpolator.ts";

const RATES = [8_000, 11_025, 22_050, 32_000, 44_100, 48_000];

function tone(rate: number, hertz: number, seconds: number): Int16Array {
  return Int16Array.from({ length: rate * seconds }, (_, index) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * hertz * index) / rate)),
  );
}

/** Samples [from, from + count) at 16 kHz of `input`, silence around it. */
function read(rate: number, input: Int16Array, from: number, count: number): Int16Array {
  const interpolator = SincInterpolator.of(rate);
  const span = interpolator.span(from, count);
  const frames = Int16Array.from(
    { length: span.to - span.from },
    (_, index) => input[span.from + index] ?? 0,
  );
  return interpolator.read(from, count, frames);
}

describe("sinc interpolator", () => {
  it.each(RATES)("sinc interpolator: a tone at %d Hz is the same tone at 16 kHz", (rate) => {
    const want = tone(16_000, 440, 1);
    const got = read(rate, tone(rate, 440, 1), 2_000, 12_000);
    let worst = 0;
    for (const [index, value] of got.entries()) {
      worst = Math.max(worst, Math.abs(value - (want[2_000 + index] ?? 0)));
    }
    expect(worst).toBeLessThanOrEqual(8);
  });

  it("sinc interpolator: what 16 kHz cannot hold is gone, not folded back", () => {
    const got = read(48_000, tone(48_000, 11_000, 1), 2_000, 12_000);
    expect(Math.max(...got.map(Math.abs))).toBeLessThanOrEqual(4);
  });

  it.each(RATES)("sinc interpolator: at %d Hz the cut changes no sample", (rate) => {
    const input = tone(rate, 1_234, 1);
    const whole = read(rate, input, 0, 16_000);
    for (const [from, count] of [
      [0, 1],
      [1, 777],
      [4_999, 3],
      [9_001, 6_999],
    ] as const) {
      expect(read(rate, input, from, count)).toEqual(whole.slice(from, from + count));
    }
  });
});
