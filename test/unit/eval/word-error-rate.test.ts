import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alignWords, wordErrors } from "../../eval/word-error-rate.ts";

const words = (text: string) => text.split(" ").filter((word) => word !== "");

describe("eval: word error rate", () => {
  // The expected counts are those of NIST sclite 2.10 for the same texts.
  it.each([
    ["the cat sat on the mat", "the cat sat on the mat", 6, 0, 0, 0],
    ["the cat sat on the mat", "the cat sit on mat", 4, 1, 1, 0],
    ["the cat sat", "uh the cat sat down", 3, 0, 0, 2],
    ["a b c d", "b c d e", 3, 0, 1, 1],
    ["a b c", "", 0, 0, 3, 0],
    ["we decided to start on monday", "he is sided to start monday", 3, 2, 1, 1],
  ])("%j heard as %j", (reference, hypothesis, correct, substitutions, deletions, insertions) => {
    const errors = wordErrors(words(reference), words(hypothesis));
    expect(errors).toMatchObject({ correct, substitutions, deletions, insertions });
    const all = substitutions + deletions + insertions;
    expect(errors.rate).toBeCloseTo(all / words(reference).length, 12);
  });

  it("gives 0 for two empty texts and Infinity for words out of nothing", () => {
    expect(wordErrors([], []).rate).toBe(0);
    expect(wordErrors([], ["a"]).rate).toBe(Number.POSITIVE_INFINITY);
  });

  it("refuses texts too long to align", () => {
    const long = new Array<string>(10_000).fill("a");
    expect(() => alignWords(long, long)).toThrow(RangeError);
  });

  it("uses every word of both sides once and in order", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 25 });
    fc.assert(
      fc.property(text, text, (reference, hypothesis) => {
        const aligned = alignWords(reference, hypothesis);
        const left = aligned.flatMap((word) => ("reference" in word ? [word.reference] : []));
        const right = aligned.flatMap((word) => ("hypothesis" in word ? [word.hypothesis] : []));
        expect(left).toEqual([...reference.keys()]);
        expect(right).toEqual([...hypothesis.keys()]);
        for (const word of aligned) {
          if (word.kind === "correct") {
            expect(reference[word.reference]).toBe(hypothesis[word.hypothesis]);
          }
        }
      }),
    );
  });

  it("never counts more errors than replacing everything, and none for equal texts", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 25 });
    fc.assert(
      fc.property(text, text, (reference, hypothesis) => {
        const { substitutions, deletions, insertions } = wordErrors(reference, hypothesis);
        const errors = substitutions + deletions + insertions;
        expect(errors).toBeLessThanOrEqual(Math.max(reference.length, hypothesis.length) * 2);
        expect(deletions - insertions).toBe(reference.length - hypothesis.length);
        expect(wordErrors(reference, reference).rate).toBe(0);
      }),
    );
  });
});
