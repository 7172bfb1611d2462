import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { declarationsBelow, declarationsOf } from "../../house/declarations.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");

/** Parsing the whole project takes seconds, and longer on a busy machine. */
const PARSING_MS = 120_000;

interface Row {
  old: string;
  new: string;
  pattern: RegExp;
  /** A declaration as it was once, which the pattern finds. */
  example: string;
}

function readRows(): Row[] {
  const [header, ...lines] = readFileSync(join(PROJECT, "deploy/words.tsv"), "utf8")
    .trimEnd()
    .split("\n");
  expect(header?.split("\t")).toEqual(["old", "new", "declarations", "example"]);
  return lines.map((line) => {
    const cells = line.split("\t");
    expect(cells.map((cell) => cell.trim() !== "")).toEqual([true, true, true, true]);
    const [old = "", word = "", pattern = "", example = ""] = cells;
    return { old, new: word, pattern: new RegExp(pattern), example };
  });
}

describe("words", () => {
  it(
    "words: no name, file or sentence has a word of ours where the field has one",
    () => {
      const rows = readRows();
      const found = declarationsBelow(PROJECT, ["src", "workers"]);
      expect(found.length).toBeGreaterThan(10_000);
      const left = rows.flatMap(({ old, new: word, pattern }) =>
        found.filter((each) => pattern.test(each)).map((each) => `${old} (say ${word}): ${each}`),
      );
      expect(left).toEqual([]);
    },
    PARSING_MS,
  );

  it("words: each pattern finds what it was written for", () => {
    for (const { pattern, example } of readRows()) expect(example).toMatch(pattern);
  });

  it("words: files, exports, their members and sentences are seen, statements and privates are not", () => {
    const text = [
      "export const LOOK_MS = 1;",
      "export class Places { #held = 1; enter(): void {} }",
      "const own = sql.unsafe`select place from t`;",
      'log.warn("an owner could not be told");',
      `const said = \`\${own} of \${LOOK_MS}\`;`,
    ].join("\n");
    expect(declarationsOf("src/base/a-place.ts", text)).toEqual([
      "src/base/a-place.ts file a-place",
      "src/base/a-place.ts export LOOK_MS",
      "src/base/a-place.ts export Places",
      "src/base/a-place.ts member Places.enter",
      "src/base/a-place.ts text an owner could not be told",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it stands in the source
      "src/base/a-place.ts text ${own} of ${LOOK_MS}",
    ]);
  });
});
