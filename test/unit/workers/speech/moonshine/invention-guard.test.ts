import { describe, expect, it } from "vitest";
import { beforeLoop, isInvented } from "../../../../../workers/speech/moonshine/invention-guard.ts";

const SECOND = 16_000;

function answer(text: string, certainty = 0.9, isEndless = false) {
  const words = text.split(" ").map((word) => ({ text: word, tokens: 1, probability: certainty }));
  return { words, tokens: words.map((_, at) => at), certainty, isEndless, workMs: 1 };
}

describe("invention guard", () => {
  it("keeps what is said, also a short answer that is hardly sure", () => {
    expect(
      isInvented(answer("We decided to start on Monday, the second of March."), 3 * SECOND),
    ).toBe(false);
    expect(isInvented(answer("Yes.", 0.45), SECOND)).toBe(false);
    expect(isInvented(answer("no no no no"), 2 * SECOND)).toBe(false);
  });

  it("drops what is not sure, repeats itself or would not end", () => {
    expect(isInvented(answer("some words that nobody said", 0.45), 3 * SECOND)).toBe(true);
    expect(isInvented(answer("Yes.", 0.3), SECOND)).toBe(true);
    expect(isInvented(answer("the first is the first is the first is the first"), 5 * SECOND)).toBe(
      true,
    );
    expect(isInvented(answer("and so on", 0.9, true), SECOND)).toBe(true);
  });

  it.each([
    ["open our new new new new new new new", "open our new"],
    ["people in you, you, you,", "people in you,"],
    ["in the first week of the first week of the week of the first", "in the first week of"],
    ["And I'm ill talk to the p", "And I'm ill talk to the"],
    ["p", ""],
  ])("keeps of an interim reading that would not end what came before: %s", (text, kept) => {
    const { words, tokens, isEndless } = beforeLoop(answer(text, 0.9, true));
    expect(words.map((word) => word.text).join(" ")).toBe(kept);
    expect(tokens).toHaveLength(words.length);
    expect(isEndless).toBe(false);
  });

  it("takes it for as sure as the words that are kept", () => {
    expect(beforeLoop(answer("who who who who who", 0.3, true)).certainty).toBeCloseTo(0.3);
    expect(isInvented(beforeLoop(answer("who who who who who", 0.3, true)), SECOND)).toBe(true);
    expect(isInvented(beforeLoop(answer("who", 0.9, true)), SECOND)).toBe(true);
  });
});
