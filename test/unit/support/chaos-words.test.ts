import { describe, expect, it } from "vitest";
import { compareWords } from "../../chaos/outcome.ts";
import { ALL_STORIES, DEEDS, DELIVERIES, Deck, ORDERS } from "../../chaos/stories.ts";
import { missingBites } from "../../chaos/story-bites.ts";
import { SeededRandom } from "../../support/seeded-random.ts";

const wordsOf = (text: string) => text.split(" ");

describe("chaos: what the verdict compares", () => {
  it("chaos: words that are missing, doubled or moved show", () => {
    const wanted = wordsOf("one two three four five");
    const differ = (found: string) => compareWords(wordsOf(found), wanted);
    expect(differ("one two three four five")).toEqual({ missing: [], extra: [] });
    expect(differ("one four five")).toEqual({ missing: ["two", "three"], extra: [] });
    expect(differ("one two two three four five")).toEqual({ missing: [], extra: ["two"] });
    const moved = differ("five one two three four");
    expect(moved).toEqual({ missing: ["five"], extra: ["five"] });
    expect(compareWords([], wanted).missing).toHaveLength(5);
  });

  it("chaos: the deck has every delivery, order and deed, and deals each story once", () => {
    for (const delivery of DELIVERIES.slice(1)) {
      const orders = ALL_STORIES.filter((each) => each.delivery === delivery);
      expect(new Set(orders.map(({ order }) => order))).toEqual(new Set(ORDERS));
    }
    expect(new Set(ALL_STORIES.flatMap(({ deed }) => deed ?? []))).toEqual(new Set(DEEDS));
    const deck = new Deck(ALL_STORIES, new SeededRandom(7));
    const dealt = [true, false].flatMap((isStreaming) => {
      const found = [];
      for (let each = deck.deal(isStreaming); each; each = deck.deal(isStreaming)) found.push(each);
      return found;
    });
    expect(new Set(dealt)).toEqual(new Set(ALL_STORIES));
    expect(dealt).toHaveLength(ALL_STORIES.length);
  });

  it("chaos: a story that bit nothing is told", () => {
    const stories = [{ delivery: "held", order: "twice", deed: "redo" }] as const;
    expect(missingBites(stories, new Map([["redo", 1]]))).toEqual([
      "held back: never happened",
      "chunks after their gap: never happened",
    ]);
  });
});
