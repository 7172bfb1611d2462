import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkTexts } from "../../../../src/conversations/transcript/chunks.ts";

const word = (text: string, start: number, end: number) => ({ text, start, end, confidence: 1 });

describe("chunk texts", () => {
  it("chunk texts: a word on a boundary belongs to the chunk that holds its middle", () => {
    const spans = [
      { start: 0, length: 100 },
      { start: 100, length: 100 },
    ];
    const words = [word("b", 90, 111), word("a", 80, 118), word("c", 60, 139)];
    expect(chunkTexts(spans, words)).toEqual(["a c", "b"]);
  });

  it("chunk texts: a chunk without a place has no words", () => {
    expect(chunkTexts([{}, { start: 0 }], [word("a", 0, 10)])).toEqual(["", ""]);
  });

  it("chunk texts: over touching spans every word is in exactly one chunk, in order", () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });
    const marks = fc.array(fc.tuple(fc.nat(300), fc.nat(60)), { maxLength: 40 });
    fc.assert(
      fc.property(lengths, marks, (chunks, raw) => {
        let at = 0;
        const spans = chunks.map((length) => {
          const span = { start: at, length };
          at += length;
          return span;
        });
        const words = raw.map(([start, length], index) => word(`w${index}`, start, start + length));
        const texts = chunkTexts(spans, words).flatMap((text) => text.split(" ").filter(Boolean));
        const inside = words.filter(({ start, end }) => (start + end) / 2 < at);
        expect(texts.toSorted()).toEqual(inside.map(({ text }) => text).toSorted());
      }),
    );
  });
});
