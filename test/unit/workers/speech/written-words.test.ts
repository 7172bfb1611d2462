import { describe, expect, it } from "vitest";
import type { RecognisedWord } from "../../../../workers/speech/recogniser.ts";
import { writtenWords } from "../../../../workers/speech/whole-utterance.ts";

const SECOND = 16_000;

/** A word each half second, with a pause of a second where the text has a bar. */
function spoken(text: string): RecognisedWord[] {
  let at = 0;
  return text.split(" ").flatMap((word) => {
    if (word === "|") at += SECOND;
    if (word === "|") return [];
    const [start, end] = [at, at + SECOND / 2];
    at = end;
    return [{ text: word, start, end, confidence: 0.5 }];
  });
}

function written(text: string, language = "en"): string {
  return writtenWords(spoken(text), language)
    .map((word) => word.text)
    .join(" ");
}

describe("written words", () => {
  it("get capitals and sentence marks where the model wrote neither", () => {
    const text = "we will meet again on monday | are you ready for the launch";
    const restored = "We will meet again on Monday. Are you ready for the launch?";
    expect(written(text)).toBe(restored);
    expect(written(text.toUpperCase())).toBe(restored);
    expect(written("we meet in march", "en-GB")).toBe("We meet in March.");
  });

  it("stay as their model wrote them where it wrote either", () => {
    expect(written("Hello everyone how are you")).toBe("Hello everyone how are you");
    expect(written("hello everyone.")).toBe("hello everyone.");
  });

  it("of other languages stay as they were recognised", () => {
    expect(written("guten tag", "de")).toBe("guten tag");
  });

  it("keep their times and confidence", () => {
    const words = spoken("yes | no");
    const times = (each: RecognisedWord[]) => each.map(({ text: _, ...rest }) => rest);
    expect(times(writtenWords(words, "en"))).toEqual(times(words));
    expect(writtenWords([], "en")).toEqual([]);
  });
});
