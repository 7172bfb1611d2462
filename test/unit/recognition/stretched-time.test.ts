import { describe, expect, it } from "vitest";
import { StretchedTime } from "../../../src/recognition/stretched-time.ts";

function read(time: StretchedTime, start: number, end: number) {
  const word = { text: "word", start, end, confidence: 1 };
  return time.segment({ start, end, words: [word], confidence: 1, cluster: 0, overlaps: [] });
}

describe("stretched time", () => {
  it("late sound: a word that begins with the sound after a short late chunk stands where that lies", () => {
    const time = new StretchedTime();
    // Of 64,000 samples that were kept for it only 14,680 came.
    time.stretch(14_680, 14_680 - 64_000);
    expect(read(time, 10_000, 14_680)).toMatchObject({ start: 10_000, end: 14_680 });
    const after = { start: 64_000, end: 66_400 };
    expect(read(time, 14_680, 17_080)).toMatchObject({ ...after, words: [after] });
  });

  it("late sound: a word that begins where its place ends stands within the place, marked as clamped", () => {
    const time = new StretchedTime();
    time.stretch(118_400, 9_600);
    const last = { start: 118_399, end: 118_400 };
    const { words } = read(time, 118_400, 123_200);
    expect(words).toMatchObject([{ ...last, timesClamped: true }]);
    expect(read(time, 128_000, 130_000)).toMatchObject({ start: 118_400, end: 120_400 });
  });

  it("late sound: a word that takes up all that has no room is marked as clamped", () => {
    const time = new StretchedTime();
    time.stretch(60_800, 1_600);
    const { words } = read(time, 60_800, 62_400);
    expect(words).toMatchObject([{ start: 60_799, end: 60_800, timesClamped: true }]);
    const reaching = read(time, 59_000, 62_400).words;
    expect(reaching).toMatchObject([{ start: 59_000, end: 60_800, timesClamped: true }]);
    expect(read(time, 62_400, 64_000)).toMatchObject({ start: 60_800, end: 62_400 });
  });

  it("late sound: a word that a short late chunk begins and the next one ends keeps its length", () => {
    const time = new StretchedTime();
    time.stretch(16_000, -48_000);
    const begun = { start: 14_000, end: 18_000, timesClamped: true };
    expect(read(time, 14_000, 18_000)).toMatchObject({
      start: 14_000,
      end: 18_000,
      words: [begun],
    });
    const ended = { start: 63_000, end: 67_000, timesClamped: true };
    expect(read(time, 15_000, 19_000)).toMatchObject({
      start: 63_000,
      end: 67_000,
      words: [ended],
    });
  });
});
