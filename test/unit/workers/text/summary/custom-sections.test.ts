import { describe, expect, it } from "vitest";
import { saidBy, summariseText } from "../../../../support/summarise-text.ts";

const CALL = saidBy(
  ["Cora", "We are looking for a tool that writes the minutes of our board meetings."],
  ["Sam", "Have a look at our brochure."],
  ["Sam", "It costs twenty euros for each person, and there is a discount for schools."],
  ["Cora", "Our budget is five hundred euros a month."],
  ["Sam", "I will send you an offer by Friday."],
);
const section = (title: string, instruction: string) => ({ title, instruction });
const fill = (...sections: ReturnType<typeof section>[]) =>
  summariseText("custom_sections", CALL, "en", sections);

describe("summary: sections in a workspace's own words", () => {
  it("have the sentences that a search for each part of them finds, in the order of the talk", () => {
    const { text, items } = fill(
      section("Money", "their budget; a discount"),
      section("Needs", "what they are “looking for”"),
    );
    expect(items).toEqual([
      {
        text: "It costs twenty euros for each person, and there is a discount for schools.",
        ...{ segmentIds: ["segment-2"], speaker: "Sam", section: "Money" },
      },
      {
        text: "Our budget is five hundred euros a month.",
        ...{ segmentIds: ["segment-3"], speaker: "Cora", section: "Money" },
      },
      {
        text: "We are looking for a tool that writes the minutes of our board meetings.",
        ...{ segmentIds: ["segment-0"], speaker: "Cora", section: "Needs" },
      },
    ]);
    expect(text).toBe(
      "Money\n- It costs twenty euros for each person, and there is a discount for schools.\n- Our budget is five hundred euros a month.\n\nNeeds\n- We are looking for a tool that writes the minutes of our board meetings.",
    );
  });

  it("say so where nobody spoke of it, and where their words tell nothing", () => {
    const { text, items } = fill(
      section("Pets", "cats and dogs"),
      section("All", "what they did; and then;"),
    );
    expect(items).toEqual([]);
    expect(text).toBe("Pets\nNothing was found for this.\n\nAll\nNothing was found for this.");
  });

  it("do not take a word for one that only looks like it", () => {
    expect(fill(section("Birds", "the budgie")).items).toEqual([]);
  });

  it("are found by their stems in other languages", () => {
    const said = saidBy(["Eva", "Die Preise der neuen Maschinen sind leider gestiegen."]);
    const found = summariseText("custom_sections", said, "de", [section("Preise", "der Preis")]);
    expect(found.items).toMatchObject([{ segmentIds: ["segment-0"], section: "Preise" }]);
  });

  it("quote nothing that was not heard clearly", () => {
    const said = saidBy(["Cora", "Our [budget?] [is?] [five?] [hundred?] [euros?]"]);
    const found = summariseText("custom_sections", said, "en", [section("Money", "the budget")]);
    expect(found.items).toEqual([]);
  });
});
