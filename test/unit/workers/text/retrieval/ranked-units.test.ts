import { describe, expect, it } from "vitest";
import { search } from "../../../../../workers/text/retrieval/search.ts";
import { finish } from "../../../../support/finish-steps.ts";
import { type SpokenTurn, spokenConversation } from "../../../../support/spoken-conversation.ts";

/** So many words in sentences of ten, none of which is asked for. */
function chatter(words: number): string {
  const sentence = "We walked along the river and looked at old boats. ";
  return sentence.repeat(words / 10).trim();
}

function ranked(turns: readonly SpokenTurn[], query: string) {
  const conversations = [spokenConversation(turns)];
  const { units, scores, sentences } = finish(search({ query, nowMs: 0, conversations }));
  const turnsOf = units.map(({ first, end }) => [
    ...new Set(
      sentences.slice(first, end).map(({ passage }) => Number(passage.segmentId.slice(8))),
    ),
  ]);
  return { units, scores, turnsOf };
}

describe("search: units", () => {
  it("are whole turns together, from ninety words on", () => {
    const turns = [60, 20, 20, 120, 90].map(
      (words, at): SpokenTurn => [`S${1 + (at % 2)}`, at * 60, chatter(words)],
    );
    const { turnsOf, units } = ranked(turns, "Where are the boats?");
    expect(turnsOf).toEqual([[0, 1, 2], [3], [4]]);
    expect(units.map(({ length }) => length)).toEqual([100, 120, 90]);
  });

  it("are pieces of a turn that is much longer", () => {
    const { units } = ranked([["S1", 0, chatter(500)]], "Where are the boats?");
    expect(units.map(({ length }) => length)).toEqual([200, 200, 100]);
  });

  it("rank higher after what is asked for than before it, and lower farther off", () => {
    const turns = Array.from({ length: 9 }, (_, at): SpokenTurn => {
      const said = at === 4 ? `The catapult broke again. ${chatter(90)}` : chatter(100);
      return [`S${1 + (at % 2)}`, at * 60, said];
    });
    const { scores, units } = ranked(turns, "What happened to the catapult?");
    expect(units).toHaveLength(9);
    for (let off = 1; off <= 4; off += 1) {
      const [before = 0, after = 0] = [scores[4 - off], scores[4 + off]];
      expect(after).toBeGreaterThan(before);
      expect(scores[5 - off]).toBeGreaterThan(before);
      expect(scores[3 + off]).toBeGreaterThan(after);
    }
  });
});
