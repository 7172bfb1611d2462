import { describe, expect, it } from "vitest";
import { RestartBackoff } from "../../../src/actor/restart-backoff.ts";

const HOUR = 3_600_000;

describe("backoff", () => {
  it("are due soon, and ever later while they go on, up to a minute", () => {
    const backoff = new RestartBackoff();
    const waits: number[] = [];
    let now = 0;
    for (let n = 0; n < 12; n += 1) {
      backoff.failed("a", now);
      const from = now;
      while (backoff.due(now).length === 0) now += 100;
      waits.push(now - from);
      backoff.activated("a");
      expect(backoff.due(now + 1_000)).toEqual([]);
    }
    expect(waits.slice(0, 4)).toEqual([500, 1_000, 2_000, 4_000]);
    expect(waits.at(-1)).toBe(60_000);
  });

  it("are forgotten when an activation lasted, or is another's business", () => {
    const backoff = new RestartBackoff();
    for (const id of ["a", "b"]) for (let n = 0; n < 5; n += 1) backoff.failed(id, 0);
    expect(backoff.due(HOUR)).toEqual(["a", "b"]);
    backoff.activated("a");
    backoff.forget("b");
    expect(backoff.due(HOUR)).toEqual([]);
    expect(backoff.size).toBe(0);
    backoff.failed("a", 2 * HOUR);
    expect(backoff.due(2 * HOUR + 500)).toEqual(["a"]);
  });
});
