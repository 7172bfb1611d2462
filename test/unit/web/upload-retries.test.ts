import { describe, expect, it } from "vitest";
import { nextStep, pauseMs } from "../../../src/web/uploads/retrying.ts";

describe("retries of uploads on the page", () => {
  it("retries: pauses grow to half a minute and no further", () => {
    const longest = [1, 2, 3, 4, 5, 6, 20].map((fruitless) => pauseMs(fruitless, 1));
    expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(pauseMs(3, 0)).toBe(2_000);
  });

  it("retries: what may pass is tried again, what is forgotten begins anew, the rest fails", () => {
    const kinds = (...all: [number, string?][]) =>
      all.map(([status, code = ""]) => nextStep({ status, code }).kind);
    expect(kinds([0], [408], [429], [500], [503, "unavailable"])).toEqual(Array(5).fill("again"));
    expect(nextStep({ status: 0, code: "" })).toMatchObject({ away: "network" });
    expect(nextStep({ status: 503, code: "" })).toMatchObject({ away: "service" });
    expect(kinds([423, "upload_held"], [409, "conflict"])).toEqual(["soon", "soon"]);
    expect(kinds([404, "not_found"], [409, "session_ended"])).toEqual(["anew", "anew"]);
    expect(kinds([401], [403, "quota_exceeded"], [413], [422, "not_audio"])).toEqual([
      ...["sign-in", "fail", "fail", "fail"],
    ]);
  });
});
