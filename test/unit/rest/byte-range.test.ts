import { describe, expect, it } from "vitest";
import { isKnown, parseByteRange, rangeStillFits } from "../../../src/rest/byte-range.ts";

describe("byte range", () => {
  it.each([
    ["bytes=0-9", { from: 0, to: 10 }],
    ["bytes=90-", { from: 90, to: 100 }],
    ["bytes=90-1000", { from: 90, to: 100 }],
    ["bytes=-10", { from: 90, to: 100 }],
    ["bytes=-1000", { from: 0, to: 100 }],
    ["Bytes = 5 - 5", { from: 5, to: 6 }],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=9-3", undefined],
    ["bytes=-", undefined],
    ["bytes=0-1,5-6", undefined],
    ["items=0-1", undefined],
    ["bytes=a-b", undefined],
    [undefined, undefined],
  ])("byte range: %s of 100 bytes", (header, expected) => {
    expect(parseByteRange(header, 100)).toEqual(expected);
  });

  it("byte range: If-Range holds for the very same representation only", () => {
    expect(rangeStillFits(undefined, '"a"')).toBe(true);
    expect(rangeStillFits('"a"', '"a"')).toBe(true);
    expect(rangeStillFits('W/"a"', '"a"')).toBe(false);
    expect(rangeStillFits("Sat, 31 Jan 2026 09:30:00 GMT", '"a"')).toBe(false);
  });

  it("byte range: If-None-Match compares weakly", () => {
    expect(isKnown('"b", W/"a"', '"a"')).toBe(true);
    expect(isKnown("*", '"a"')).toBe(true);
    expect(isKnown('"b"', '"a"')).toBe(false);
    expect(isKnown(undefined, '"a"')).toBe(false);
  });
});
