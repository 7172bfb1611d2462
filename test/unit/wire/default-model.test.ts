import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { MOONSHINE, trySpeechEngine } from "../../../src/wire/speech-engines.ts";

const FOLDER = resolve(import.meta.dirname, "../../../workers/models/moonshine-tiny-en");

it("default model: the checksums that are told are those of the files that ship, as its README has them", () => {
  const readme = readFileSync(resolve(FOLDER, "README.md"), "utf8");
  for (const [file, told] of Object.entries(MOONSHINE.model.sha256)) {
    const sum = createHash("sha256")
      .update(readFileSync(resolve(FOLDER, file)))
      .digest("hex");
    expect(told, file).toBe(sum);
    expect(readme).toContain(sum);
  }
});

it("default model: it comes over an announcement whole, and nonsense in its place is passed over", () => {
  const sent: unknown = JSON.parse(JSON.stringify(MOONSHINE));
  expect(trySpeechEngine(sent)).toEqual(MOONSHINE);
  expect(trySpeechEngine({ ...MOONSHINE, model: { name: 3 } })?.model).toBeUndefined();
  expect(
    trySpeechEngine({ ...MOONSHINE, model: { name: "m", sha256: { a: "b" } } })?.model,
  ).toEqual({
    name: "m",
    sha256: {},
  });
});
