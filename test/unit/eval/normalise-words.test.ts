import { describe, expect, it } from "vitest";
import { normaliseWords } from "../../eval/normalise-words.ts";

describe("eval: word normalisation", () => {
  it.each([
    ["Good morning, everyone.", "good morning everyone"],
    ["a well-known  O’Clock 'quoted'", "a well known o'clock quoted"],
    ["<s> read(2) the [NOISE] ++um++ book </s> <sil>", "read the book"],
    ["Mr. and Mrs. Dashwood", "mister and missus dashwood"],
    ["Smith & Sons", "smith and sons"],
    ["café Ünal", "café ünal"],
  ])("%j gives %j", (text, words) => {
    expect(normaliseWords(text).join(" ")).toBe(words);
  });

  it.each([
    ["0", "zero"],
    ["19", "nineteen"],
    ["40", "forty"],
    ["95 dollars", "ninety five dollars"],
    ["$100", "one hundred dollars"],
    ["$1", "one dollar"],
    ["5%", "five percent"],
    ["1,200", "one thousand two hundred"],
    ["1203", "one thousand two hundred three"],
    ["2.50", "two point five zero"],
    ["3rd, 12th and 20th", "third twelfth and twentieth"],
    ["the 21st", "the twenty first"],
    ["007", "zero zero seven"],
    ["1000000", "one million"],
    ["1234567890123", "one two three four five six seven eight nine zero one two three"],
  ])("spells the number in %j as %j", (text, words) => {
    expect(normaliseWords(text).join(" ")).toBe(words);
  });

  it("is idempotent", () => {
    const once = normaliseWords("On the 2nd of March, 95% said: don't pay $1,200!");
    expect(normaliseWords(once.join(" "))).toEqual(once);
  });
});
