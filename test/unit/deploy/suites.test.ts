import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { NIGHTLY_PROJECTS, PROJECTS } from "../../../deploy/testing/projects.mjs";
import config from "../../../vitest.config.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");

/** Names of the projects that run each file of tests. */
function runsOf(): [file: string, projects: string[]][] {
  const projects = (config.test?.projects ?? []).map((project) => {
    const { test } = project as { test: { name: string; include: string[] } };
    const files = test.include.flatMap((pattern) => globSync(pattern, { cwd: PROJECT }));
    return { name: test.name, files: new Set(files) };
  });
  const everything = globSync("{test,src,workers,deploy}/**/*.test.{ts,tsx,mts}", { cwd: PROJECT });
  return everything.map((file) => [
    file,
    projects.filter(({ files }) => files.has(file)).map(({ name }) => name),
  ]);
}

describe("suites", () => {
  it("run every file of tests, each once", () => {
    const runs = runsOf();
    expect(runs.length).toBeGreaterThan(300);
    expect(runs.filter(([, projects]) => projects.length !== 1)).toEqual([]);
  });

  it("are either part of npm test or of the nightly run", () => {
    const names = [...PROJECTS, ...NIGHTLY_PROJECTS].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const run = runsOf().flatMap(([, projects]) => projects);
    expect(new Set(run)).toEqual(new Set(names));
    const ci = readFileSync(resolve(PROJECT, ".ci/run"), "utf8");
    expect(ci).toMatch(/^exec npm test$/m);
  });
});
