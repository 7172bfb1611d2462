import { describe, expect, it } from "vitest";
import { openChunk } from "../../../workers/audio/decode.ts";
import {
  inRoom,
  overTelephone,
  type Signal,
  toChunks,
  whiteNoise,
  withNoise,
} from "../../eval/degraded-audio.ts";
import { seededRandom } from "../../eval/made-conversation.ts";

const RATE = 16_000;

function tone(hz: number, seconds: number): Signal {
  return Float64Array.from(
    { length: seconds * RATE },
    (_, at) => 8_000 * Math.sin((2 * Math.PI * hz * at) / RATE),
  );
}

function level(signal: ArrayLike<number>): number {
  const sum = Array.from(signal).reduce((total, sample) => total + sample * sample, 0);
  return Math.sqrt(sum / signal.length);
}

const decibels = (a: number, b: number) => 20 * Math.log10(a / b);

describe("degraded audio", () => {
  it("noise lies as far below the voice as asked, whose pauses do not count", () => {
    const signal = new Float64Array(4 * RATE);
    signal.set(tone(500, 1), RATE);
    const noise = whiteNoise(signal.length, seededRandom(1));
    const noisy = withNoise(signal, noise, 10);
    const pause = noisy.subarray(2 * RATE);
    expect(decibels(level(tone(500, 1)), level(pause))).toBeCloseTo(10, 0);
    expect(withNoise(signal, noise, 10)).toEqual(noisy);
  });

  it("a room falls by 60 dB in its time and is no louder than the voice", () => {
    const impulse = new Float64Array(RATE);
    impulse[0] = 10_000;
    const heard = inRoom(impulse, 0.5, seededRandom(1));
    const rest = heard.subarray(1);
    expect(decibels(level(rest), level(impulse.subarray(0, rest.length)))).toBeCloseTo(0, 0);
    const early = level(heard.subarray(1, 800));
    const late = level(heard.subarray(6_400, 7_200));
    expect(decibels(early, late)).toBeGreaterThan(40);
    expect(level(heard.subarray(RATE / 2))).toBe(0);
  });

  it("a telephone line is µ-law at 8 kHz of the band from 300 to 3400 Hz", () => {
    const through = (hz: number) => {
      const [chunk] = overTelephone(tone(hz, 1));
      expect(chunk).toMatchObject({ start: 0, length: RATE });
      const decoder = openChunk(chunk?.mediaType ?? "", chunk?.data ?? Buffer.alloc(0));
      expect(decoder.sampleRate).toBe(8_000);
      return level(decoder.read(8_000).subarray(1_000));
    };
    const full = level(tone(1_000, 1));
    expect(decibels(through(1_000), full)).toBeCloseTo(0, 0);
    expect(decibels(through(60), full)).toBeLessThan(-30);
    expect(decibels(through(300), full)).toBeCloseTo(-6, 0);
  });

  it("chunks follow one another and hold every sample", () => {
    const chunks = toChunks(tone(100, 25));
    expect(chunks.map(({ start, length }) => [start / RATE, length / RATE])).toEqual([
      [0, 10],
      [10, 10],
      [20, 5],
    ]);
    expect(chunks.reduce((sum, { data }) => sum + data.length, 0)).toBe(50 * RATE);
  });
});
