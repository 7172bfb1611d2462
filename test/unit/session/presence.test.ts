import { describe, expect, it } from "vitest";
import { presenceOf } from "../../../src/session/presence.ts";

describe("presence", () => {
  it("presence: offline after three missed heartbeats of the period that the device said", () => {
    const at = 1_000_000;
    expect(presenceOf(at, { period_seconds: 2 }, at + 5_999)).toBe("online");
    expect(presenceOf(at, { period_seconds: 2 }, at + 6_000)).toBe("offline");
    expect(presenceOf(at, {}, at + 89_999)).toBe("online");
    expect(presenceOf(at, { period_seconds: "soon" }, at + 90_000)).toBe("offline");
    expect(presenceOf(undefined, {}, at)).toBe("offline");
  });
});
