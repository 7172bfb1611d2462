import { describe, expect, it } from "vitest";
import { AgreedPrefix } from "../../../../../workers/speech/moonshine/agreed-prefix.ts";

/** A reading of which each word has two tokens. */
function reading(text: string) {
  const words = text.split(" ").map((word) => ({ text: word, tokens: 2, probability: 1 }));
  return { words, tokens: words.flatMap((_, at) => [10 * at, 10 * at + 1]) };
}

describe("agreed prefix", () => {
  it("words on which two readings agree, but for the last two, are taken over", () => {
    const prefix = new AgreedPrefix();
    prefix.push(reading("And Mr. J."));
    expect(prefix.agreed).toBe(0);
    prefix.push(reading("and Mr John Dashwood had"));
    expect(prefix.agreed).toBe(2);
    expect(prefix.forced).toEqual([0, 1, 10, 11]);
    expect(prefix.draft).toEqual([20, 21, 30, 31, 40, 41]);
  });

  it("what is agreed stays while the next readings keep it", () => {
    const prefix = new AgreedPrefix();
    for (const text of ["a b c d", "a b c d e"]) prefix.push(reading(text));
    expect(prefix.agreed).toBe(3);
    prefix.push(reading("a b c x"));
    expect(prefix.agreed).toBe(3);
    prefix.push(reading("a y"));
    expect(prefix.agreed).toBe(1);
  });

  it("the next utterance begins without any", () => {
    const prefix = new AgreedPrefix();
    for (const text of ["a b c d", "a b c d e"]) prefix.push(reading(text));
    prefix.restart();
    expect([prefix.agreed, prefix.words, prefix.forced, prefix.draft]).toEqual([0, [], [], []]);
  });
});
