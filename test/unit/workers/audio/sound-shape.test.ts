import { describe, expect, it } from "vitest";
import { SoundShape } from "../../../../workers/audio/sound-shape.ts";

const RATE = 16_000;

function shapeOf(sample: (time: number) => number, seconds = 2): SoundShape {
  const shape = new SoundShape();
  const pcm = Int16Array.from({ length: seconds * RATE }, (_, at) => Math.round(sample(at / RATE)));
  for (let at = 0; at < pcm.length; at += 160) shape.push(pcm.subarray(at, at + 160));
  return shape;
}

const tone = (hz: number) => (time: number) => 5_000 * Math.sin(2 * Math.PI * hz * time);
/** For so many seconds of each half second. */
const pulsed = (seconds: number, loud = 1) => {
  return (time: number) => (time % 0.5 < seconds ? loud * tone(1_000)(time) : 0);
};

describe("sound shape", () => {
  it("sound shape: what lasts 50 ms counts, what is shorter does not", () => {
    expect(shapeOf(pulsed(0.1)).lastingShare()).toBeGreaterThan(0.95);
    expect(shapeOf(pulsed(0.04)).lastingShare()).toBeLessThan(0.05);
  });

  it("sound shape: a bang outweighs what lasts only without a limit", () => {
    const banged = shapeOf((time) => pulsed(0.2)(time) / 10 + (time < 0.01 ? tone(900)(time) : 0));
    expect(banged.lastingShare()).toBeLessThan(0.5);
    expect(banged.lastingShare(2)).toBeGreaterThan(0.8);
  });

  it("sound shape: a constant offset is no sound", () => {
    const share = shapeOf((time) => 4_000 + pulsed(0.02)(time)).lastingShare();
    expect(share).toBeLessThan(0.05);
  });

  it("sound shape: tones below 400 Hz are low, those far above are not", () => {
    expect(shapeOf(tone(150)).lowShare).toBeGreaterThan(0.6);
    expect(shapeOf(tone(400)).lowShare).toBeGreaterThan(0.2);
    expect(shapeOf(tone(2_500)).lowShare).toBeLessThan(0.01);
  });
});
