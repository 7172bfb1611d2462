import { describe, expect, it } from "vitest";
import { waitBefore } from "../../../src/client/back-off.ts";
import { apiError, Unreachable, VoiceError } from "../../../src/client/errors.ts";
import { awayOf, nextStep, UPLOAD_BACK_OFF } from "../../../src/web/uploads/refusals.ts";

describe("retries of uploads on the page", () => {
  it("retries: pauses grow to half a minute and no further", () => {
    const pause = (fruitless: number, chance: number) =>
      waitBefore(fruitless, UPLOAD_BACK_OFF, () => chance);
    const longest = [1, 2, 3, 4, 5, 6, 20].map((fruitless) => pause(fruitless, 1));
    expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(pause(3, 0)).toBe(2_000);
  });

  it("retries: what may pass is tried again, what is forgotten begins anew, the rest fails", () => {
    const error = (status: number, code = "") =>
      apiError({ call: "PATCH /uploads", status, code, said: "No." });
    const kinds = (...all: [number, string?][]) =>
      all.map(([status, code]) => nextStep(error(status, code)).kind);
    const away = new Unreachable("PATCH /uploads", new Error("gone"), 1);
    expect(nextStep(away)).toEqual({ kind: "again", away: "network" });
    expect(nextStep(error(503))).toEqual({ kind: "again", away: "service" });
    expect(kinds([408], [429], [500], [503, "unavailable"])).toEqual(Array(4).fill("again"));
    expect(kinds([404, "not_found"], [410], [409, "session_ended"])).toEqual(Array(3).fill("anew"));
    expect(kinds([401], [403, "quota_exceeded"], [413], [422, "not_audio"], [409])).toEqual(
      Array(5).fill("fail"),
    );
    // The account of somebody who is a guest for a while.
    expect(nextStep(new VoiceError("unauthorized", "Later.", true)).kind).toBe("again");
    expect([awayOf(away), awayOf(error(423))]).toEqual(["network", "service"]);
  });
});
