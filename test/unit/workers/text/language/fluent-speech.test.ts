import { describe, expect, it } from "vitest";
import { toFluentSpeech } from "../../../../../workers/text/language/fluent-speech.ts";
import { polish } from "../../../../../workers/text/language/polish.ts";

describe("fluent speech: what was said, as it would be written", () => {
  it.each([
    [
      "Th the main idea I wanted to s I wanted to say is cheap.",
      "the main idea I wanted to say is cheap.",
    ],
    ["it could be it could be a problem", "it could be a problem"],
    ["We, we need the the report.", "we need the report."],
    ["m most buttons de decide ch choose", "most buttons decide choose"],
    ["It it's the t remote of th shop.", "it's the remote of shop."],
    ["We'll yeah let's take plastic.", "let's take plastic."],
    ["They wait, you know, by the door, I mean, outside.", "They wait by the door outside."],
    ["It is sort of a lattice that they kind of like.", "It is a lattice that they kind of like."],
    ["We sorta wait 'cause it rains.", "We wait because it rains."],
    [
      "Either bigger with a base or smaller with the.",
      "Either bigger with a base or smaller with…",
    ],
    ["We sent it to my", "We sent it to…"],
    ["I g I guess I w say that tha that's easy.", "I guess I say that that's easy."],
    ["They, well, they've only started.", "they've only started."],
    ["I It's pretty good, but I So I wanna play.", "It's pretty good, but I wanna play."],
    ["The I this idea of shorter filters.", "this idea of shorter filters."],
    ["I'm gonna save th a copy.", "I'm gonna save a copy."],
    ["because tha tha that's easy", "because that's easy"],
    ["It's good, but um i So I wanna play.", "It's good, but um I wanna play."],
    ["I'll I'll, the next thing I try is a model.", "the next thing I try is a model."],
    ["The plan is to just you know create a model.", "The plan is to just create a model."],
    [
      "a screen with some kind of you know with some kind of case",
      "a screen with some kind of case",
    ],
    ["We'll hear it tomorrow, so.", "We'll hear it tomorrow."],
  ])("%s", (spoken, written) => {
    expect(toFluentSpeech(spoken)).toBe(written);
  });

  it.each([
    "What kind of remote is it, and which sort of case?",
    "It is a different kind of question.",
    "Do you know where the part C of the go game is?",
    "I know that that is so. So it is.",
    "We pay [ten?] [ten?] euros in individual parts.",
    "Is it on or off, and by whom?",
    "Some of you know it, as you know, and do you know what you know?",
    "I think so. It's, a bit, like this. I'll, of course, come.",
    "Let's eat, and let's go to the option b room on the 5 th day.",
    "No. No, go on. Go now.",
    "We took the s a t exam at the i t desk.",
  ])("leaves as it is: %s", (text) => {
    expect(toFluentSpeech(text)).toBe(text.replace("that that", "that"));
  });

  it("a first word that was not heard clearly has its capital as well", () => {
    expect(polish("you know, [minutes?] are ready", true)).toBe("[Minutes?] are ready.");
  });

  it("is part of every quotation", () => {
    expect(polish("well i mean the the plan is is uh sort of ready", true)).toBe(
      "The plan is ready.",
    );
    expect(polish("der der Plan", false)).toBe("Der Plan.");
  });
});
