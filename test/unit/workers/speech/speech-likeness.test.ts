import { describe, expect, it } from "vitest";
import { isLikelySpeech } from "../../../../workers/speech/speech-likeness.ts";

const SECOND = 16_000;

/** Words of `seconds` each, one after the other. */
function words(texts: readonly string[], seconds: number) {
  return texts.map((text, index) => {
    const start = index * seconds * SECOND;
    return { text, start, end: start + seconds * SECOND, confidence: 0.9 };
  });
}

describe("speech likeness", () => {
  it("speech likeness: sentences and single words are speech", () => {
    expect(isLikelySpeech(words(["yes"], 0.1), 0, SECOND)).toBe(true);
    expect(isLikelySpeech(words(["and", "so", "we", "went"], 0.3), 0, 2 * SECOND)).toBe(true);
    expect(isLikelySpeech(words(["no", "no", "no", "no"], 0.3), 0, 2 * SECOND)).toBe(true);
  });

  it("speech likeness: what hum, music and struck notes give is not", () => {
    expect(isLikelySpeech([], 0, SECOND)).toBe(false);
    expect(isLikelySpeech(words(["mm"], 8), 0, 20 * SECOND)).toBe(false);
    expect(isLikelySpeech(words(["a"], 0.26), 0, 20 * SECOND)).toBe(false);
    const notes = Array.from({ length: 20 }, () => "ah");
    expect(isLikelySpeech(words(notes, 0.5), 0, 10 * SECOND)).toBe(false);
    const beat = Array.from({ length: 20 }, (_, at) => ["and", "if", "i", "have"][at % 4] ?? "");
    expect(isLikelySpeech(words(beat, 0.3), 0, 6 * SECOND)).toBe(false);
  });
});
