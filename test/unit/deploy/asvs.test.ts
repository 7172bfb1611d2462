import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { ASVS_REQUIREMENTS } from "../../support/asvs-requirements.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const TABLE = readFileSync(join(PROJECT, "deploy/asvs.md"), "utf8");
const ID = /\b\d+\.\d+\.\d+\b/g;
const FIRST_CHAPTER = TABLE.indexOf("\n## 1 ");
/** The cells of each row of requirements that apply. */
const ROWS = TABLE.slice(FIRST_CHAPTER)
  .split("\n")
  .filter((line) => /^\| \d+\.\d+\.\d+ \|/.test(line))
  .map((line) => line.slice(1, -1).split("|"));

/** Ids of the rows that say why requirements do not apply. */
function leftOut(): string[] {
  const rows = TABLE.slice(0, FIRST_CHAPTER).split("\n");
  return rows.flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(ID)].map(([id]) => id));
}

describe("table of OWASP ASVS", () => {
  it("has every requirement of levels 1 and 2 once, as held, as not held, or as out of scope", () => {
    const told = [...ROWS.map(([id = ""]) => id.trim()), ...leftOut()];
    expect(told.sort()).toEqual([...ASVS_REQUIREMENTS].sort());
  });

  it("has four cells in each row: what it is about, where it is held, and which test shows it", () => {
    const odd = ROWS.filter((cells) => cells.length !== 4 || cells.some((cell) => !cell.trim()));
    expect(odd).toEqual([]);
  });

  it("names a file that holds each requirement, or says that nothing does", () => {
    const silent = ROWS.filter(([, , held = ""]) => {
      return filesIn(held).length === 0 && !/^ (no|partly): | \d+\.\d+\.\d+ |none exist/.test(held);
    });
    expect(silent.map(([id]) => id?.trim())).toEqual([]);
  });

  it("names only files that are there", () => {
    const named = filesIn(TABLE);
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((file) => !existsSync(join(PROJECT, file)))).toEqual([]);
  });
});

/** Words in backticks that name a file: with an ending that files here have. */
function filesIn(text: string): string[] {
  const words = [...text.matchAll(/`([^`\s]+)`/g)].map(([, word = ""]) => word);
  return words.filter((word) => {
    return /(\.(tsx?|mjs|md|json|sql|conf|cjs|html)|Caddyfile|\.dockerignore)$/.test(word);
  });
}
