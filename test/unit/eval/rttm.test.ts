import { describe, expect, it } from "vitest";
import { formatRttm, parseRttm } from "../../eval/rttm.ts";

describe("RTTM", () => {
  it("comes back as it was written, to the sample", () => {
    const turns = [
      { start: 1 / 16000, end: 3.25, speaker: "S1" },
      { start: 3, end: 4 + 5 / 16000, speaker: "MÉO069" },
    ];
    const read = parseRttm(formatRttm("clean c2a", turns)).get("clean_c2a") ?? [];
    expect(read.map(({ speaker }) => speaker)).toEqual(["S1", "MÉO069"]);
    for (const [i, { start, end }] of turns.entries()) {
      expect(read[i]?.start).toBeCloseTo(start, 6);
      expect(read[i]?.end).toBeCloseTo(end, 6);
    }
  });

  it("keeps recordings apart, and skips other lines and empty turns", () => {
    const text = [
      ";; a remark",
      "SPKR-INFO a 1 <NA> <NA> <NA> unknown A <NA>",
      "SPEAKER a 1 0.5 1.5 <NA> <NA> A <NA> <NA>",
      "SPEAKER b 1 2 1 <NA> <NA> B <NA> <NA>",
      "",
    ].join("\n");
    expect([...parseRttm(text)]).toEqual([
      ["a", [{ start: 0.5, end: 2, speaker: "A" }]],
      ["b", [{ start: 2, end: 3, speaker: "B" }]],
    ]);
    expect(formatRttm("a", [{ start: 1, end: 1, speaker: "A" }])).toBe("");
  });
});
