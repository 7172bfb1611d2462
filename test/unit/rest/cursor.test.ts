import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAppError } from "../../../src/base/errors.ts";
import { decodeCursor, encodeCursor } from "../../../src/rest/page.ts";

const key = new Uint8Array(32).fill(9);

function refusal(cursor: string, list = "users"): unknown {
  try {
    return decodeCursor(key, list, cursor);
  } catch (error) {
    return error;
  }
}

describe("cursors", () => {
  it("position: comes back as it was given", () => {
    const positions = fc.array(fc.string({ maxLength: 40 }), { maxLength: 4 });
    fc.assert(
      fc.property(positions, (position) => {
        expect(decodeCursor(key, "users", encodeCursor(key, "users", position))).toEqual(position);
      }),
    );
  });

  it("forgery: another list's, another key's, a changed and an invented one are refused", () => {
    const cursor = encodeCursor(key, "users", ["a"]);
    const last = cursor.at(-3) === "A" ? "B" : "A";
    const forged = [
      encodeCursor(key, "workspaces", ["a"]),
      encodeCursor(new Uint8Array(32), "users", ["a"]),
      `${cursor.slice(0, -3)}${last}${cursor.slice(-2)}`,
      "",
      "abc",
      "A".repeat(5_000),
    ];
    for (const each of forged) expect(isAppError(refusal(each), "invalid_parameter")).toBe(true);
  });
});
