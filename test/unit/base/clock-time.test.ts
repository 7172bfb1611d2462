import { describe, expect, it } from "vitest";
import { clockTime } from "../../../src/wire/clock-time.ts";

describe("clock time", () => {
  it("tells minutes and seconds, then hours", () => {
    expect([0, 59.9, 60, 3_599, 3_600].map(clockTime)).toEqual([
      "00:00",
      "00:59",
      "01:00",
      "59:59",
      "1:00:00",
    ]);
  });

  it("is zero before the start", () => {
    expect(clockTime(-1)).toBe("00:00");
  });
});
