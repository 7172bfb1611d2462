import { describe, expect, it } from "vitest";
import { SpectralMovement } from "../../../../workers/audio/spectral-movement.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";

const RATE = 16_000;

function movementOf(sample: (time: number) => number, block = 160): number {
  const movement = new SpectralMovement();
  const pcm = Int16Array.from({ length: 2 * RATE }, (_, at) => Math.round(sample(at / RATE)));
  for (let at = 0; at < pcm.length; at += block) movement.push(pcm.subarray(at, at + block));
  return movement.decibels;
}

describe("spectral movement", () => {
  it("spectral movement: noise of one colour hardly moves, however loud it swells", () => {
    const random = seededRandom(1);
    const swell = (time: number) => 8_000 * (random() - 0.5) * (1.2 + Math.sin(9 * time));
    expect(movementOf(swell)).toBeLessThan(0.5);
  });

  it("spectral movement: tones that change places move, and one that stays does not", () => {
    const tone = (hz: number, time: number) => 5_000 * Math.sin(2 * Math.PI * hz * time);
    expect(movementOf((time) => tone(time % 0.4 < 0.2 ? 500 : 2_500, time))).toBeGreaterThan(3);
    expect(movementOf((time) => tone(500, time))).toBeLessThan(0.2);
  });

  it("spectral movement: the size of the blocks changes nothing, and of 100 ms nothing is told", () => {
    const chirp = (time: number) => 5_000 * Math.sin(2 * Math.PI * (300 + 900 * time) * time);
    expect(movementOf(chirp, 1_600)).toBe(movementOf(chirp, 160));
    const movement = new SpectralMovement();
    movement.push(Int16Array.from({ length: 1_600 }, (_, at) => at));
    expect(movement.decibels).toBe(0);
  });
});
