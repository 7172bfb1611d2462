import { describe, expect, it } from "vitest";
import { agoOf } from "../../../src/web/parts/times.ts";

describe("times on the page", () => {
  const now = new Date("2026-03-05T12:00:00.000Z");
  const ago = (ms: number) => agoOf(new Date(now.getTime() - ms).toISOString(), now);

  it("times: how long ago something was, also when clocks differ", () => {
    expect(ago(-5_000)).toBe("just now");
    expect(ago(59_999)).toBe("just now");
    expect(ago(60_000)).toBe("1 min ago");
    expect(ago(3_600_000 * 2.5)).toBe("2 h ago");
    expect(ago(3 * 86_400_000)).toContain("2026");
  });
});
