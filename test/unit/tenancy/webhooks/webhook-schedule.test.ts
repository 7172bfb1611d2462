import { describe, expect, it } from "vitest";
import { judgeFailure } from "../../../../src/tenancy/webhooks/queue.ts";

const HOUR = 3_600_000;
const RESULT = { at: 0, durationMs: 100, error: "http_error" as const };

/** When a message that never arrives is tried, in milliseconds from the first attempt. */
function attempts(random: number): number[] {
  const times: number[] = [];
  let at: number | undefined = 0;
  for (let attempt = 1; at !== undefined; attempt += 1) {
    times.push(at);
    const claim = { attempt, giveUpAt: 72 * HOUR, failures: attempt - 1 };
    at = judgeFailure(claim, { ...RESULT, at }, random).retryAt;
  }
  return times;
}

describe("webhook schedule", () => {
  it.each([0, 0.5, 0.999])("ten attempts within 72 h, jitter %s included", (random) => {
    const times = attempts(random);
    expect(times).toHaveLength(10);
    expect(times[1]).toBeLessThan(6_000);
    expect(times.at(-1)).toBeGreaterThan(60 * HOUR);
    expect(times.at(-1)).toBeLessThan(72 * HOUR);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect([...waits].sort((one, other) => one - other)).toEqual(waits);
  });

  it("an attempt beyond the time to give up is not made", () => {
    const claim = { attempt: 9, giveUpAt: HOUR, failures: 0 };
    expect(judgeFailure(claim, RESULT, 0).retryAt).toBeUndefined();
  });

  it("an endpoint rests after its third failure in a row, ever longer, at most 5 min", () => {
    const pause = (failures: number) =>
      judgeFailure({ attempt: 1, giveUpAt: HOUR, failures }, RESULT, 0).pauseUntil - 100;
    expect([0, 1, 2, 3, 4].map(pause)).toEqual([0, 0, 5_000, 10_000, 20_000]);
    expect(pause(50)).toBe(300_000);
  });

  it("410 and five days without a delivery switch a webhook off", () => {
    const claim = { attempt: 1, giveUpAt: HOUR, failures: 3, failingSince: -120 * HOUR };
    expect(judgeFailure(claim, RESULT, 0)).toMatchObject({ disable: "failing" });
    const recent = { ...claim, failingSince: -119 * HOUR };
    expect(judgeFailure(recent, RESULT, 0).disable).toBeUndefined();
    expect(judgeFailure(recent, { ...RESULT, error: "gone" }, 0).disable).toBe("gone");
    expect(judgeFailure({ ...claim, failingSince: undefined }, RESULT, 0).failingSince).toBe(0);
  });
});
