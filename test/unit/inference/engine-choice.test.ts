import { describe, expect, it } from "vitest";
import { isAppError } from "../../../src/base/errors.ts";
import {
  assertLanguage,
  chooseEngine,
  type EngineRequest,
  languageWarning,
} from "../../../src/inference/engine-choice.ts";
import { MOONSHINE, type SpeechEngine, UNHEARD } from "../../../src/wire/speech-engines.ts";

const engine = (name: string, languages: [string, ...string[]], local = true): SpeechEngine => {
  return { ...MOONSHINE, name, languages, local };
};
const HOSTED = engine("hosted", ["en", "de"], false);
const HOUSE = engine("house", ["de", "fr"]);
const ENGINES = [HOSTED, MOONSHINE, HOUSE];

function chosen(wish: Partial<EngineRequest>, installation?: string): string {
  try {
    return chooseEngine(ENGINES, { language: "en", mayLeave: false, ...wish }, installation).name;
  } catch (error) {
    return isAppError(error, "engine_unavailable") ? error.message : String(error);
  }
}

describe("engine choice", () => {
  it("takes the first local engine that knows the language", () => {
    expect(chosen({})).toBe("moonshine-tiny-en");
    expect(chosen({ language: "en-GB" })).toBe("moonshine-tiny-en");
    expect(chosen({ language: "de-CH" })).toBe("house");
    expect(chosen({ language: "de", mayLeave: true })).toBe("house");
  });

  it("prefers request over workspace over installation", () => {
    const wish = { language: "de", mayLeave: true };
    expect(chosen({ ...wish, asked: "hosted", preferred: "house" }, "house")).toBe("hosted");
    expect(chosen({ ...wish, preferred: "hosted" }, "house")).toBe("hosted");
    expect(chosen(wish, "hosted")).toBe("hosted");
  });

  it("passes over defaults that do not know the language", () => {
    expect(chosen({ language: "fr", preferred: "moonshine-tiny-en" }, "hosted")).toBe("house");
  });

  it("goes on with the engine that read so far, whatever is asked since", () => {
    expect(chosen({ current: "house", asked: "moonshine-tiny-en" })).toBe("house");
    expect(chosen({ current: "gone" })).toBe("moonshine-tiny-en");
  });

  it("never takes an engine to which sound leaves without the owner's leave", () => {
    for (const wish of [{ asked: "hosted" }, { preferred: "hosted" }, { current: "hosted" }]) {
      expect(chosen(wish, "hosted")).toBe("moonshine-tiny-en");
      expect(chosen({ ...wish, mayLeave: true })).toBe("hosted");
    }
  });

  it("says which engine is away, and that no engine knows a language", () => {
    expect(chosen({ asked: "gone" })).toMatch(/No worker has the engine "gone"/);
    expect(chosen({ language: "it" })).toMatch(/No engine here reads "it".*: de, en, fr\./);
    const wish = { language: "it", mayLeave: false };
    expect(() => chooseEngine(ENGINES, wish)).toThrow(
      expect.objectContaining({ code: "language_unsupported" }),
    );
    expect(() => chooseEngine(UNHEARD, wish)).toThrow(
      expect.objectContaining({ code: "engine_unavailable" }),
    );
  });

  it("refuses no language before the first worker was heard, and `auto` unless one detects", () => {
    expect(assertLanguage(UNHEARD, "it")).toBeUndefined();
    expect(() => assertLanguage(ENGINES, "it")).toThrow(/that can be read: de, en, fr/);
    expect(assertLanguage(ENGINES, "fr-CA")).toBeUndefined();
    expect(() => assertLanguage(ENGINES, "auto")).toThrow(/finds out the language/);
    expect(
      assertLanguage([...ENGINES, { ...HOUSE, detectsLanguage: true }], "auto"),
    ).toBeUndefined();
  });

  it("warns of a language that only engines know to which the sound may not leave", () => {
    const told = (mayLeave: boolean) => languageWarning([HOSTED], { language: "de", mayLeave });
    expect(told(false)).toMatch(/has not allowed/);
    expect(told(true)).toBeUndefined();
  });

  it("says when only engines that are not allowed know the language", () => {
    const wish = { language: "de", mayLeave: false };
    expect(() => chooseEngine([MOONSHINE, HOSTED], wish)).toThrow(/hosted.*has not allowed/);
  });
});
