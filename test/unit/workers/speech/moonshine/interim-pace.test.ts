import { expect, it } from "vitest";
import { InterimPace } from "../../../../../workers/speech/moonshine/interim-pace.ts";

it("interim readings take a quarter of the time at most, and come 0.3 to 2 seconds apart", () => {
  let now = 0;
  const pace = new InterimPace(() => now);
  expect(pace.isDue).toBe(true);
  const wait = (took: number): number => {
    pace.asked();
    const asked = now;
    now += took;
    pace.answered();
    while (!pace.isDue) now += 1;
    return now - asked;
  };
  expect([wait(100), wait(400), wait(1_700), wait(50)]).toEqual([400, 1_600, 2_000, 300]);
});
