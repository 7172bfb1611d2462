import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeProblem, OLDEST_NODE } from "../../../deploy/setup/node-check.mjs";

const PROJECT = resolve(import.meta.dirname, "../../..");
const read = (path: string): string => readFileSync(resolve(PROJECT, path), "utf8");
/** What people start, and with it whatever Node their machine has. */
const STARTED = ["deploy/up.mjs", "deploy/test.mjs", "deploy/check.mjs", "deploy/run.mjs"];

describe("the version of Node", () => {
  it.each(["12.22.12", "18.20.4", "20.11.1"])(
    "%s is too old, and told in one sentence",
    (version) => {
      const problem = nodeProblem(version);
      expect(problem).toMatch(new RegExp(`^Node ${version} is too old: Node 20\\.12\\.0 or newer`));
      expect(problem).toContain("npx --yes --package node@22 -- npm run up");
      expect(problem).not.toContain("\n");
    },
  );

  it.each(["20.12.0", "20.20.2", "22.0.0", "24.1.0"])("%s will do", (version) => {
    expect(nodeProblem(version)).toBe("");
  });

  it("is the one that package.json and README name", () => {
    const { engines } = JSON.parse(read("package.json")) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${OLDEST_NODE}`);
    expect(read("README.md")).toContain("Node 20.12 or newer");
  });

  it("is looked at before anything is read that an old one cannot", () => {
    for (const path of [...STARTED, "deploy/bin/voice.mjs"]) {
      const imports = [...read(path).matchAll(/^import .* from "(.*)";$/gm)].map(
        ([, name]) => name,
      );
      expect(imports, path).toEqual([expect.stringMatching(/setup\/node-check\.mjs$/)]);
    }
    const imports = [...read("deploy/setup/node-check.mjs").matchAll(/^import .*$/gm)];
    expect(imports.map(([line]) => line)).toEqual(['import process from "node:process";']);
  });
});
