import { describe, expect, it } from "vitest";
import { Relapses } from "../../../src/actor/relapses.ts";

const HOUR = 3_600_000;

describe("relapses", () => {
  it("are due soon, and ever later while they go on, up to a minute", () => {
    const relapses = new Relapses();
    const waits: number[] = [];
    let now = 0;
    for (let n = 0; n < 12; n += 1) {
      relapses.failed("a", now);
      const from = now;
      while (relapses.due(now).length === 0) now += 100;
      waits.push(now - from);
      relapses.activated("a");
      expect(relapses.due(now + 1_000)).toEqual([]);
    }
    expect(waits.slice(0, 4)).toEqual([500, 1_000, 2_000, 4_000]);
    expect(waits.at(-1)).toBe(60_000);
  });

  it("are forgotten when an activation lasted, or is another's business", () => {
    const relapses = new Relapses();
    for (const id of ["a", "b"]) for (let n = 0; n < 5; n += 1) relapses.failed(id, 0);
    expect(relapses.due(HOUR)).toEqual(["a", "b"]);
    relapses.activated("a");
    relapses.forget("b");
    expect(relapses.due(HOUR)).toEqual([]);
    expect(relapses.size).toBe(0);
    relapses.failed("a", 2 * HOUR);
    expect(relapses.due(2 * HOUR + 500)).toEqual(["a"]);
  });
});
