import { describe, expect, it } from "vitest";
import { toStoreError } from "../../../src/store/store-error.ts";

function databaseError(code: string, message: string): Error {
  const cause = Object.assign(new Error(message), { code });
  return new Error(message, { cause });
}

describe("store errors", () => {
  it.each([
    ["25P03", "Connection terminated due to idle-in-transaction timeout."],
    ["57P01", "terminating connection due to administrator command"],
    ["08006", "connection failure"],
  ])("store error: %s may be tried again", (code, message) => {
    expect(toStoreError(databaseError(code, message))).toMatchObject({ code: "unavailable" });
  });

  it("store error: what the database refuses stays what it is", () => {
    const refusal = databaseError("23505", "duplicate key");
    expect(toStoreError(refusal)).toBe(refusal);
  });
});
