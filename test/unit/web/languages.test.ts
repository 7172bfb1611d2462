import { describe, expect, it } from "vitest";
import { languageName, languagesFor } from "../../../src/web/uploads/languages.ts";

const LOCAL = { languages: ["en", "de"], local: true } as const;
const REMOTE = { languages: ["en", "fr"], local: false, detects_language: true } as const;
const ENGLISH = { preferred_language: "en-GB", remote_engines: false };

const tags = (...asked: Parameters<typeof languagesFor>) =>
  languagesFor(...asked).map(({ tag }) => tag);

describe("languages of what is recorded or uploaded", () => {
  it("are those that engines read in the workspace, besides its own", () => {
    expect(languagesFor([LOCAL, REMOTE], ENGLISH)).toEqual([{ tag: "de", name: "German" }]);
    expect(tags([LOCAL, REMOTE], { ...ENGLISH, remote_engines: true })).toEqual([
      ...["auto", "fr", "de"],
    ]);
    // One that its engines do not read is answered by what they read.
    expect(tags([LOCAL], { ...ENGLISH, preferred_language: "fi" })).toEqual(["en", "de"]);
  });

  it("are none where there is nothing to choose", () => {
    expect(tags([{ languages: ["en"], local: true }], ENGLISH)).toEqual([]);
    expect(tags([LOCAL], undefined)).toEqual([]);
    expect(tags([], ENGLISH)).toEqual([]);
  });

  it("are called as people call them", () => {
    expect(languageName("de-AT")).toMatch(/German/);
    expect(languageName("auto")).toBe("found by itself");
    expect(languageName("not a tag")).toBe("not a tag");
  });
});
