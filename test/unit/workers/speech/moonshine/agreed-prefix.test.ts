import { describe, expect, it } from "vitest";
import { AgreedPrefix } from "../../../../../workers/speech/moonshine/agreed-prefix.ts";

const SECOND = 16_000;

/** A reading of which each word has two tokens. */
function reading(text: string) {
  const words = text.split(" ").map((word) => ({ text: word, tokens: 2, probability: 1 }));
  return { words, tokens: words.flatMap((_, at) => [10 * at, 10 * at + 1]) };
}

describe("agreed prefix", () => {
  it("words on which two readings agree, but for the last two, are taken over", () => {
    const prefix = new AgreedPrefix();
    prefix.push(reading("And Mr. J."), SECOND * 2);
    expect(prefix.agreed).toBe(0);
    prefix.push(reading("and Mr John Dashwood had"), SECOND * 3);
    expect(prefix.agreed).toBe(2);
    expect(prefix.tokens).toEqual([0, 1, 10, 11]);
    expect(prefix.draft).toEqual([20, 21, 30, 31, 40, 41]);
  });

  it("a reading of little sound agrees with nothing", () => {
    const prefix = new AgreedPrefix();
    prefix.push(reading("I'd less to be"), 0.75 * SECOND);
    prefix.push(reading("I'd less to be rather"), 1.5 * SECOND);
    expect([prefix.agreed, prefix.draft.length]).toEqual([0, 10]);
    prefix.push(reading("I'd less to be rather cold"), 2 * SECOND);
    expect(prefix.agreed).toBe(4);
  });

  it("what is agreed stays while the next readings keep it", () => {
    const prefix = new AgreedPrefix();
    prefix.push(reading("a b c d"), 2 * SECOND);
    prefix.push(reading("a b c d e"), 3 * SECOND);
    expect(prefix.agreed).toBe(3);
    prefix.push(reading("a b c x"), 4 * SECOND);
    expect(prefix.agreed).toBe(3);
    prefix.push(reading("a y"), 5 * SECOND);
    expect(prefix.agreed).toBe(1);
  });

  it("a reading that heard hardly more than the one before agrees with an earlier one", () => {
    const prefix = new AgreedPrefix();
    prefix.push(reading("to the people in"), 2 * SECOND);
    prefix.push(reading("to the people in your book"), 2.3 * SECOND);
    expect(prefix.agreed).toBe(0);
    prefix.push(reading("to the people in your book so"), 2.6 * SECOND);
    expect(prefix.agreed).toBe(3);
    prefix.push(reading("to a people in your book so far"), 2.8 * SECOND);
    expect(prefix.agreed).toBe(1);
    prefix.push(reading("to a people in your book so far as"), 3.2 * SECOND);
    expect(prefix.agreed).toBe(1);
  });

  it("the next utterance begins without any", () => {
    const prefix = new AgreedPrefix();
    prefix.push(reading("a b c d"), 2 * SECOND);
    prefix.push(reading("a b c d e"), 3 * SECOND);
    expect(prefix.agreed).toBe(3);
    prefix.restart();
    expect([prefix.agreed, prefix.words, prefix.tokens, prefix.draft]).toEqual([0, [], [], []]);
  });
});
