import { describe, expect, it } from "vitest";
import { AnswerTimes } from "../../../../workers/threads/session-scheduler.ts";

const SECOND = 16_000;

function create() {
  const clock = { ms: 0 };
  return { clock, times: new AnswerTimes(() => clock.ms) };
}

describe("answer times: how long a final took its worker", () => {
  it("counts from the arrival of the first audio that reaches the answer's end", () => {
    const { clock, times } = create();
    times.arrived(SECOND, 0);
    clock.ms = 100;
    times.arrived(2 * SECOND, 10);
    clock.ms = 200;
    times.arrived(3 * SECOND, 25);
    clock.ms = 230;
    expect(times.answered(1.5 * SECOND, 45)).toEqual({ total: 130_000, engine: 35_000 });
    expect(times.answered(3 * SECOND, 45)).toEqual({ total: 30_000, engine: 20_000 });
  });

  it("counts from what ended the utterance when that came after its audio", () => {
    const { clock, times } = create();
    times.arrived(SECOND, 0);
    clock.ms = 500;
    times.arrived(SECOND, 40);
    clock.ms = 510;
    expect(times.answered(SECOND, 48)).toEqual({ total: 10_000, engine: 8_000 });
  });

  it("does not know of what it was not told", () => {
    expect(create().times.answered(SECOND, 1)).toBeUndefined();
  });

  it("remembers the newest of many arrivals", () => {
    const { clock, times } = create();
    for (let count = 1; count <= 5_000; count += 1) {
      clock.ms = count;
      times.arrived(count, count / 2);
    }
    clock.ms = 5_010;
    expect(times.answered(5_000, 2_504)).toEqual({ total: 10_000, engine: 4_000 });
    expect(times.answered(1, 2_504)?.total).toBeLessThanOrEqual(1_024_000);
  });
});
