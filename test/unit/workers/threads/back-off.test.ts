import { describe, expect, it } from "vitest";
import { BackOff } from "../../../../workers/threads/thread-slot.ts";

describe("back-off: waits", () => {
  it("double up to the longest, and begin anew after a healthy run", () => {
    let ms = 0;
    const clock = { now: () => ms, monotonic: () => ms };
    const backOff = new BackOff({ clock, firstMs: 200, maxMs: 1_000, healthyMs: 60_000 });
    expect([1, 2, 3, 4].map(() => backOff.next())).toEqual([200, 400, 800, 1_000]);
    backOff.started();
    ms += 59_999;
    expect(backOff.next()).toBe(1_000);
    backOff.started();
    ms += 60_000;
    expect(backOff.next()).toBe(200);
  });
});
