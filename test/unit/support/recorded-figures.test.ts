import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { commandOf, withSection } from "../../support/recorded-figures.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const PAGE = "# Figures\n\nHead.\n\n## npm run b\n\nold\n\n## npm run d\n\nkept\n";

describe("recorded figures", () => {
  it("recorded figures: a run replaces its own section, and nothing else", () => {
    expect(withSection(PAGE, "npm run b", "new\n")).toBe(PAGE.replace("old", "new"));
  });

  it("recorded figures: a command's first run gets a section among the others", () => {
    const page = withSection(PAGE, "npm run c", "first");
    expect(page).toBe(PAGE.replace("## npm run d", "## npm run c\n\nfirst\n\n## npm run d"));
  });

  it("recorded figures: a command is called as a person runs it, wherever its files go", () => {
    const argv = (script: string, ...options: string[]) => [
      "node",
      join(PROJECT, script),
      ...options,
    ];
    expect(commandOf(argv("test/eval/retrieval.ts"))).toBe("npm run eval:retrieval");
    const options = ["rest", "--out", "/tmp/figures", "--quick"];
    expect(commandOf(argv("test/bench/run.ts", ...options))).toBe("npm run bench -- rest --quick");
    expect(() => commandOf(argv("test/bench/rest.ts"))).toThrow("No script of package.json");
  });

  it("recorded figures: each section of the page is of a command that is there, by date and commit", () => {
    const { scripts } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8"));
    const [, ...sections] = readFileSync(join(PROJECT, "test/figures.md"), "utf8").split(/^## /m);
    expect(sections.length).toBeGreaterThan(0);
    for (const section of sections) {
      const [title = "", , run = ""] = section.split("\n");
      expect(Object.keys(scripts), title).toContain(title.split(" ")[2]);
      expect(run, title).toMatch(/^\d{4}-\d\d-\d\d, commit [0-9a-f]{8}/);
    }
  });
});
