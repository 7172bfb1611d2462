import { describe, expect, it } from "vitest";
import {
  CONFIDENCE_FLOOR,
  type WordEvidence,
  wordConfidences,
} from "../../../../../workers/speech/pocketsphinx/word-confidence.ts";

/** As of a word in the middle of clear speech. */
const CLEAR: WordEvidence = {
  posterior: 0.99,
  language: -200,
};

const of = (...changes: Partial<WordEvidence>[]) =>
  wordConfidences(changes.map((change) => ({ ...CLEAR, ...change })));

describe("word confidence", () => {
  it("is a chance, whatever the engine tells", () => {
    for (const posterior of [0, 1e-9, 0.5, 1]) {
      const [confidence = -1] = of({ posterior });
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThan(1);
    }
    expect(wordConfidences([])).toEqual([]);
  });

  it("of a clear word lies above the floor", () => {
    expect(of({}, {}, {})[1]).toBeGreaterThan(CONFIDENCE_FLOOR);
  });

  it.each<[string, Partial<WordEvidence>]>([
    ["less of the lattice", { posterior: 0.3 }],
    ["an unlikelier sequence", { language: -900 }],
  ])("falls with %s", (_, change) => {
    const [clear = 0, changed = 1] = [of({})[0], of(change)[0]];
    expect(changed).toBeLessThan(clear);
  });

  it("falls with the words around it, which are the same utterance", () => {
    const [alone = 0] = of({}, {}, {});
    const [among = 1] = of({}, { posterior: 0.01 }, { posterior: 0.02 });
    expect(among).toBeLessThan(alone);
  });

  it("of a word that hardly anything speaks for lies below the floor", () => {
    const doubtful = { posterior: 0.05, language: -700 };
    for (const confidence of of(doubtful, doubtful)) {
      expect(confidence).toBeLessThan(CONFIDENCE_FLOOR);
    }
  });
});
