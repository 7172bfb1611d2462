import { describe, expect, it } from "vitest";
import { isBroken, readability } from "../../../../../workers/text/summary/readability.ts";

describe("readability: how a spoken sentence reads by itself", () => {
  it.each([
    "The garden of house number 3 grows red roses and yellow tulips.",
    "Anna wrote the report on Friday.",
    "We moved to The Hague and met What If Limited.",
    "I went with him to the park, and we agreed on it.",
    "One of the things is that they use the same number of states.",
    "I'll send it to you, as it's the first of three.",
    "Vitamin C is good for you.",
  ])("well: %s", (text) => {
    expect(readability(text)).toBe(1);
    expect(isBroken(text)).toBe(false);
  });

  it.each([
    "The thing is would there not be a we'd have to drop the plates.",
    "Could you cluster the just do some kind of clustering.",
    "It is hard to go from there What you want are binary labels.",
    "I'll, the next experiment is to create models.",
    "We need to look at p the plan.",
    "W for Italian we have both data.",
  ])("badly, as it was begun anew: %s", (text) => {
    expect(isBroken(text)).toBe(true);
    expect(readability(text)).toBeLessThan(0.5);
  });

  it.each([
    "The idea of a paging function, a touch screen, and face plates.",
    "This idea of trying to find filters with shorter delays.",
    "We are going to the shop because of…",
    "One, two, three, four, five buttons are here.",
    "Does the question put him in difficulty?",
    "Because the price of the old one is two Euros.",
  ])("worse than a sentence that says something: %s", (text) => {
    expect(isBroken(text)).toBe(false);
    expect(readability(text)).toBeLessThan(0.7);
  });
});
