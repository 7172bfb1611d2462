import { describe, expect, it } from "vitest";
import { parseEngines } from "../../../../workers/speech/engine-file.ts";

const HOUSE = {
  ...{ kind: "openai", name: "house", model: "small", languages: ["en", "de"] },
  url: "http://speech:8000/v1",
};

function problemsOf(engines: unknown[], env = {}): string[] {
  const read = parseEngines({ engines }, env);
  return "problems" in read ? read.problems : [];
}

describe("engine settings", () => {
  it("take keys from the environment, never from the file", () => {
    const hosted = { ...HOUSE, key_variable: "HOUSE_KEY" };
    const read = parseEngines({ engines: [hosted] }, { HOUSE_KEY: "secret" });
    expect(read).toEqual({ engines: [{ ...hosted, key: "secret" }] });
    expect(problemsOf([hosted])).toEqual([expect.stringMatching(/HOUSE_KEY, which is not set/)]);
    expect(problemsOf([{ ...HOUSE, key: "secret" }])).toEqual([
      expect.stringMatching(/engines\[0\] must NOT have additional properties \("key"\)/),
    ]);
  });

  it("name every problem and where it is", () => {
    const problems = problemsOf([
      { kind: "telepathy" },
      { ...HOUSE, languages: [] },
      { kind: "deepgram", name: "hosted", model: "m", languages: ["en"], url: "https://wrong" },
    ]);
    expect(problems).toEqual([
      expect.stringMatching(
        /engines\[0\]: kind must be one of moonshine-tiny-en, openai, deepgram/,
      ),
      expect.stringMatching(/engines\[1\]\.languages must NOT have fewer than 1 items/),
      expect.stringMatching(/engines\[2\]\.url must match pattern/),
    ]);
    expect(problemsOf([HOUSE, { ...HOUSE, model: "large" }])).toEqual([
      expect.stringMatching(/several engines called "house"/),
    ]);
  });

  it("count an engine as local only where the operator says so", () => {
    const read = parseEngines({ engines: [HOUSE, { ...HOUSE, name: "b", local: true }] }, {});
    expect("engines" in read && read.engines.map((each) => "local" in each && each.local)).toEqual([
      false,
      true,
    ]);
  });
});
