import { beforeEach, expect, it } from "vitest";
import { InterimPace } from "../../../../../workers/speech/moonshine/moonshine-recogniser.ts";

let now = 0;
let pace: InterimPace;
beforeEach(() => {
  now = 0;
  pace = new InterimPace(() => now);
});

/** How long after a reading of `took` ms was asked for the next one is due. */
function untilNext(took: number, workMs = took): number {
  pace.asked();
  const asked = now;
  now += took;
  pace.answered(workMs);
  while (!pace.isDue) now += 1;
  return now - asked;
}

it("interim readings that need not wait take half of the time at most, and come 0.3 to 2 seconds apart", () => {
  expect(pace.isDue).toBe(true);
  const waits = [100, 400, 1_700, 50].map((took) => untilNext(took));
  expect(waits).toEqual([300, 800, 2_000, 300]);
});

it("one that waited for a thread by chance changes nothing; where all wait, they take a quarter with their waits", () => {
  expect([untilNext(600, 200), untilNext(200)]).toEqual([600, 400]);
  expect([untilNext(350, 100), untilNext(400, 100), untilNext(500, 100)]).toEqual([
    350, 1_400, 1_600,
  ]);
});
