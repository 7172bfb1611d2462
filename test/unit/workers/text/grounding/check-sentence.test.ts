import { describe, expect, it } from "vitest";
import { checkSentence } from "../../../../../workers/text/grounding/check-sentence.ts";

const SPEAKERS = ["Anna Weber", "Ben Okafor", "S3", "S7"];
const SAID = {
  anna: {
    speaker: "Anna Weber",
    text: "So the budget is twenty five thousand euros, and we can't spend more before Monday.",
  },
  ben: {
    speaker: "Ben Okafor",
    text: "I'll call the printer in Hamburg tomorrow, um, because the posters did not arrive.",
  },
  third: {
    speaker: "S3",
    text: "Ben, can you send the offer to the caterer by the third of March?",
  },
  seventh: { speaker: "S7", text: "The old printer costs forty euros, as I have told you." },
};

function check(text: string, cited: readonly (keyof typeof SAID)[], speaker?: string): string {
  const verdict = checkSentence({ text, speaker, cited: cited.map((key) => SAID[key]) }, SPEAKERS);
  return verdict.isBorne ? "borne" : verdict.objection;
}

describe("grounding: what citations bear", () => {
  it.each([
    ["The budget is 25,000 euros.", ["anna"], undefined],
    ["Anna said that they cannot spend more before Monday.", ["anna"], undefined],
    ["Ben will call the printer in Hamburg tomorrow.", ["ben"], undefined],
    ["I'll call the printer in Hamburg tomorrow.", ["ben"], "Ben Okafor"],
    ["The posters didn't arrive.", ["ben"], undefined],
    ["Ben should send the offer to the caterer by 3 March.", ["third"], undefined],
    ["S7 said that the old printer costs 40 euros.", ["seventh"], undefined],
    ["Speaker 7 said that the old printer costs 40 euros.", ["seventh"], undefined],
    ["S3 asked Ben to send the offer to the caterer by 3 March.", ["third"], undefined],
    ["Speaker 3 asked Ben to send the offer to the caterer.", ["third"], undefined],
  ] as const)("borne: %s", (text, cited, speaker) => {
    expect(check(text, cited, speaker)).toBe("borne");
  });

  it.each([
    ["number", "The budget is 35,000 euros.", ["anna"], undefined],
    ["number", "S7 said that the 7 old printers cost 40 euros.", ["seventh"], undefined],
    ["speaker", "S3 said that the old printer costs 40 euros.", ["seventh"], undefined],
    ["number", "The budget is twenty five million euros.", ["anna"], undefined],
    ["date", "They cannot spend more before Tuesday.", ["anna"], undefined],
    ["date", "Ben should send the offer to the caterer by 3 April.", ["third"], undefined],
    ["name", "Ben will call the printer in Dublin tomorrow.", ["ben"], undefined],
    ["negation", "They can spend more before Monday.", ["anna"], undefined],
    ["negation", "The posters did arrive.", ["ben"], undefined],
    ["negation", "Ben will not call the printer in Hamburg tomorrow.", ["ben"], undefined],
    ["speaker", "Anna said that the posters did not arrive.", ["ben"], undefined],
    ["speaker", "The posters did not arrive.", ["ben"], "Anna Weber"],
    ["words", "The company will be sold to its largest competitor.", ["anna"], undefined],
    ["no_citation", "The budget is 25,000 euros.", [], undefined],
  ] as const)("not borne (%s): %s", (objection, text, cited, speaker) => {
    expect(check(text, cited, speaker)).toBe(objection);
  });

  it("a number elsewhere in what is cited bears nothing", () => {
    expect(check("The budget is three thousand euros.", ["anna", "third"])).toBe("number");
  });
});
