import { describe, expect, it } from "vitest";
import { AppError } from "../../../../src/base/errors.ts";
import { decodeReaderState, encodeReaderState } from "../../../../workers/speech/reader-state.ts";

describe("reader state", () => {
  it("reader state: comes back as it was", () => {
    const state = {
      activity: Uint8Array.of(0, 9),
      phases: [{ start: 5, base: 0, frames: 14, rate: 44_100 }],
      pauses: { wait: 461_350, gap: 31 },
    };
    const again = decodeReaderState(encodeReaderState(state));
    expect([...again.activity]).toEqual([0, 9]);
    expect(again.phases).toEqual(state.phases);
    expect(again.pauses).toEqual(state.pauses);
  });

  it.each([
    // What the engine before this one kept.
    '{"version":1,"phases":[],"recogniser":"","activity":"","pauses":{"wait":1,"gap":1}}',
    '{"version":2,"phases":[],"activity":"","pauses":{"wait":"long"}}',
    "",
    "null",
    "{}",
    '{"version":2}',
    '{"version":2,"phases":[{}]}',
    "\u0000\u0001",
  ])("reader state: refuses %j", (text) => {
    expect(() => decodeReaderState(Buffer.from(text))).toThrow(AppError);
  });
});
