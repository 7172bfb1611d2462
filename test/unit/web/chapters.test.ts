import { describe, expect, it } from "vitest";
import { chapterAt, chaptersOf } from "../../../src/web/views/session/chapters.ts";

const item = (section: string | undefined, start_ms: number) => ({
  text: "what was said",
  segment_ids: [],
  start_ms,
  ...(section === undefined ? {} : { section }),
});

describe("chapters of the page", () => {
  it("chapters: are the sections of a summary in detail, from where their headings say", () => {
    const items = [
      item("00:00 launch, system", 4_000),
      item("00:00 launch, system", 9_000),
      item("1:02:10 price", 3_731_000),
      item("without a clock", 3_600_000),
      item(undefined, 5_000),
    ];
    expect(chaptersOf({ items })).toEqual([
      { startMs: 0, title: "launch, system" },
      { startMs: 3_600_000, title: "without a clock" },
      { startMs: 3_730_000, title: "price" },
    ]);
    expect(chaptersOf(undefined)).toEqual([]);
  });

  it("chapters: the one at a moment is the last that has begun", () => {
    const chapters = [
      { startMs: 2_000, title: "a" },
      { startMs: 5_000, title: "b" },
    ];
    expect([0, 2, 4.9, 5, 90].map((at) => chapterAt(chapters, at))).toEqual([-1, 0, 0, 1, 1]);
  });
});
