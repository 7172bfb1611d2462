import { describe, expect, it } from "vitest";
import type { RecognisedWord } from "../../../../workers/speech/recogniser.ts";
import { StablePrefix } from "../../../../workers/speech/stable-prefix.ts";

const TICK = 3_200;

/** One word for every 200 ms, from the start of the utterance on. */
function words(text: string): RecognisedWord[] {
  return text.split(" ").map((word, index) => ({
    text: word,
    start: index * TICK,
    end: (index + 1) * TICK,
    confidence: 0,
  }));
}

const SENTENCE = "one two three four five six seven eight nine ten";

/** Hears the sentence word by word; the counts after each. */
function hear(prefix: StablePrefix, text = SENTENCE): number[] {
  const all = text.split(" ");
  return all.map((_, index) =>
    prefix.hear(words(all.slice(0, index + 1).join(" ")), (index + 1) * TICK),
  );
}

describe("stable prefix", () => {
  it("stable prefix: nothing is stable before it has proved itself", () => {
    const prefix = new StablePrefix();
    expect(Math.max(...hear(prefix))).toBe(0);
    prefix.learn(words(SENTENCE));
    expect(Math.max(...hear(prefix))).toBe(0);
  });

  it("stable prefix: once proved, words become stable some time after they were said", () => {
    const prefix = new StablePrefix();
    for (let utterance = 0; utterance < 3; utterance++) {
      hear(prefix);
      prefix.learn(words(SENTENCE));
    }
    const counts = hear(prefix);
    expect(counts).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("stable prefix: where finals differ from what was heard, nothing is promised", () => {
    const prefix = new StablePrefix();
    for (let utterance = 0; utterance < 10; utterance++) {
      hear(prefix);
      prefix.learn(words(SENTENCE.replace("one", "won")));
    }
    expect(Math.max(...hear(prefix))).toBe(0);
  });

  it("stable prefix: a word that changes after all is taken back, with those after it", () => {
    const prefix = new StablePrefix();
    for (let utterance = 0; utterance < 3; utterance++) {
      hear(prefix);
      prefix.learn(words(SENTENCE));
    }
    hear(prefix);
    expect(prefix.hear(words(SENTENCE.replace("three", "tree")), 10 * TICK)).toBe(2);
  });

  it("stable prefix: an utterance that is read anew teaches nothing", () => {
    const prefix = new StablePrefix();
    for (let utterance = 0; utterance < 10; utterance++) {
      hear(prefix);
      prefix.restart();
    }
    expect(Math.max(...hear(prefix))).toBe(0);
  });
});
