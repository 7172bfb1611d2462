import { describe, expect, it } from "vitest";
import { MEL_BANDS, melFilterBank } from "../../../../workers/inference/mel-filter-bank.ts";

const RATE = 16_000;

function tone(hz: number, seconds: number, amplitude = 8_000): Int16Array {
  return Int16Array.from({ length: seconds * RATE }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * n) / RATE)),
  );
}

/** The band in which each frame is loudest, against its mean over the sound. */
function loudest(row: Float32Array): number {
  return row.reduce((best, value, at) => (value > (row[best] ?? 0) ? at : best), 0);
}

describe("mel filter bank", () => {
  it("filter bank: 25 ms every 10 ms, none beyond the sound", () => {
    for (const [samples, frames] of [
      [399, 0],
      [400, 1],
      [559, 1],
      [560, 2],
      [RATE, 98],
    ] as const) {
      expect(melFilterBank(new Int16Array(samples)).length).toBe(frames * MEL_BANDS);
    }
  });

  it("filter bank: a tone is in the band of its mel, and bands have no mean", () => {
    const mel = (hz: number) => 1_127 * Math.log(1 + hz / 700);
    const step = (mel(8_000) - mel(20)) / (MEL_BANDS + 1);
    for (const hz of [300, 1_000, 3_000]) {
      const sound = new Int16Array(RATE);
      sound.set(tone(hz, 0.5), RATE / 2);
      const rows = melFilterBank(sound);
      const last = rows.subarray(rows.length - MEL_BANDS);
      expect(Math.abs(loudest(last) + 1 - (mel(hz) - mel(20)) / step)).toBeLessThan(1);
      for (let band = 0; band < MEL_BANDS; band++) {
        let sum = 0;
        for (let at = band; at < rows.length; at += MEL_BANDS) sum += rows[at] ?? 0;
        expect(Math.abs(sum)).toBeLessThan(0.02);
      }
    }
  });

  it("filter bank: loudness and a constant offset change nothing but what they must", () => {
    const quiet = melFilterBank(tone(500, 0.3, 2_000));
    const loud = melFilterBank(tone(500, 0.3, 8_000).map((sample) => sample + 1_000));
    const difference = quiet.map((value, at) => Math.abs(value - (loud[at] ?? 0)));
    expect(Math.max(...difference)).toBeLessThan(0.6);
  });
});
