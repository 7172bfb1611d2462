import { describe, expect, it } from "vitest";
import { correct, correctionOf } from "../../../src/web/views/session/model/corrections.ts";

describe("corrections", () => {
  it("corrections: the words that differ, without the marks around them", () => {
    expect(correctionOf("We met Ms. Smyth.", "We met Ms. Smith.")).toEqual({
      from: "Smyth",
      to: "Smith",
    });
    expect(correctionOf("in Jena's office, today", "in Gena's office, today")).toEqual({
      from: "Jena",
      to: "Gena",
    });
    expect(correctionOf("the cube and eighties team", "the Kubernetes team")).toEqual({
      from: "cube and eighties",
      to: "Kubernetes",
    });
    expect(correctionOf("ask ada", "ask Ada")).toEqual({ from: "ada", to: "Ada" });
  });

  it("corrections: none where words only came or went, where marks changed, or a whole sentence", () => {
    for (const [before, after] of [
      ["we met", "we met"],
      ["we met", "we have met"],
      ["we have met", "we met"],
      ["we met", "we met."],
      ["a b c d e f", "one two three four five six"],
      ["we met I", "we met you"],
    ] as const) {
      expect(correctionOf(before, after), after).toBeUndefined();
    }
  });

  it("corrections: only whole words are put right, and each keeps its capitals", () => {
    const name = { from: "Smyth", to: "Smith" };
    expect(correct("Smyth, Smyth's and SMYTH; Smythe, smyth", name)).toBe(
      "Smith, Smith's and SMITH; Smythe, smith",
    );
    const word = { from: "colour", to: "shade" };
    expect(correct("Colour is colour, discolour is not", word)).toBe(
      "Shade is shade, discolour is not",
    );
    const several = { from: "cube and eighties", to: "Kubernetes" };
    expect(correct("cube and\n eighties", several)).toBe("Kubernetes");
    expect(correct("no such word", name)).toBe("no such word");
  });

  it("corrections: of capitals alone what has them already stays, and signs are no pattern", () => {
    expect(correct("ada and Ada", { from: "ada", to: "Ada" })).toBe("Ada and Ada");
    expect(correct("C++ or cxx", { from: "C++", to: "Rust" })).toBe("Rust or cxx");
    expect(correct("Zoë met Zoé", { from: "Zoé", to: "Zoe" })).toBe("Zoë met Zoe");
    expect(correct("a $ b", { from: "b", to: "$&" })).toBe("a $ $&");
  });
});
