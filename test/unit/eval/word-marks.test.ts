import { describe, expect, it } from "vitest";
import { wordMarks } from "../../eval/word-marks.ts";

function errors(wrong: number, words: number) {
  const none = { correct: 0, deletions: 0, insertions: 0, hypothesis_words: 0 };
  return { ...none, substitutions: wrong, reference_words: words, rate: wrong / words };
}

describe("marks of words", () => {
  it("are of all recordings together, for each way of delivery", () => {
    const rows = wordMarks([
      { service: [{ delivery: 2, errors: errors(10, 100) }] },
      { service: [{ delivery: 2, errors: errors(0, 100) }] },
    ]);
    expect(rows).toMatchObject([
      { figure: "words wrong, read speech, 2 s", value: 5, met: true },
      { value: 0, met: true },
    ]);
  });

  it("are missed by what is too often wrong, and by ways that are too far apart", () => {
    const rows = wordMarks([
      {
        service: [
          { delivery: 2, errors: errors(5, 100) },
          { delivery: "stream", errors: errors(7, 100) },
        ],
      },
    ]);
    expect(rows.map(({ met }) => met)).toEqual([true, false, false]);
  });

  it("are none where nothing was measured", () => {
    expect(wordMarks([])).toEqual([]);
  });
});
