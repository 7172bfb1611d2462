import { describe, expect, it } from "vitest";
import { AppError } from "../../../../src/base/errors.ts";
import { cleanWord } from "../../../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { decodeReaderState, encodeReaderState } from "../../../../workers/speech/reader-state.ts";

describe("reader state", () => {
  it("reader state: comes back as it was", () => {
    const state = {
      recogniser: Uint8Array.of(1, 2, 255),
      activity: Uint8Array.of(0, 9),
      phases: [{ start: 5, base: 0, frames: 14, rate: 44_100 }],
    };
    const again = decodeReaderState(encodeReaderState(state));
    expect([...again.recogniser]).toEqual([1, 2, 255]);
    expect([...again.activity]).toEqual([0, 9]);
    expect(again.phases).toEqual(state.phases);
    expect(again.pauses).toBeUndefined();
    const pauses = { wait: 261_350, gap: 31 };
    expect(decodeReaderState(encodeReaderState({ ...state, pauses })).pauses).toEqual(pauses);
  });

  it.each([
    '{"version":1,"phases":[],"recogniser":"","activity":"","pauses":{"wait":"long"}}',
    "",
    "null",
    "{}",
    '{"version":1}',
    '{"version":1,"phases":[{}]}',
    "\u0000\u0001",
  ])("reader state: refuses %j", (text) => {
    expect(() => decodeReaderState(Buffer.from(text))).toThrow(AppError);
  });
});

describe("clean word", () => {
  it("clean word: keeps words, drops marks and fillers", () => {
    expect(["to(2)", "s.", "o'clock", "read(12)"].map(cleanWord)).toEqual([
      "to",
      "s.",
      "o'clock",
      "read",
    ]);
    expect(["<s>", "</s>", "<sil>", "[NOISE]", "++UH++", ""].map(cleanWord)).toEqual(
      Array.from({ length: 6 }, () => undefined),
    );
  });
});
