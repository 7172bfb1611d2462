import { describe, expect, it } from "vitest";
import { nounPhrasesOf } from "../../../../../workers/text/summary/noun-phrases.ts";
import { saidBy, summariseText } from "../../../../support/summarise-text.ts";

const phrasesOf = (clear: string) => nounPhrasesOf({ clear }).map(({ phrase }) => phrase);

describe("noun phrases that could name a topic", () => {
  it.each([
    ["Mark Randolph did the study of speech recognition.", "Mark Randolph"],
    ["We have a complicated remote control, sorry.", "complicated remote control"],
  ])("of %j one is written so: %s", (text, phrase) => {
    expect(phrasesOf(text)).toContain(phrase);
  });

  it.each([
    ["Thank you, Chair, for the important question.", /chair|question/iu],
    ["Mr.Chair, the pipeline needs a permit.", /chair/iu],
    ["It is a big deal in conclusion.", /deal|conclusion/iu],
    ["Back to the printer.", /back/iu],
    ["S plug in the printer.", /^s /iu],
  ])("of %j none has %s", (text, unwanted) => {
    expect(phrasesOf(text).join("\n")).not.toMatch(unwanted);
  });

  it("whoever talks about a chair names it", () => {
    expect(phrasesOf("We need the chair for the new office.")).toContain("chair");
  });

  it("a heading has no two words of one kind", () => {
    const said = saidBy(
      ...Array.from({ length: 12 }, (_, at): [string, string] => [
        "Anna",
        `The government's response and the government and the governments wait for bridge ${at}.`,
      ]),
    );
    const [{ section = "" } = {}] = summariseText("detailed", said).items;
    expect(section.match(/government/gu)).toHaveLength(1);
  });
});
