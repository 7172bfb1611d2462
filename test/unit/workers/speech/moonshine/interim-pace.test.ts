import { expect, it } from "vitest";
import { InterimPace } from "../../../../../workers/speech/moonshine/interim-pace.ts";

it("interim readings come half a second apart and as much later as the last took, to two seconds", () => {
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
  expect([wait(100), wait(400), wait(1_700), wait(50)]).toEqual([600, 900, 2_000, 550]);
});
