import { defineConfig } from "vitest/config";
import { NIGHTLY_PROJECTS, PROJECTS, type SuiteProject } from "./deploy/testing/projects.mjs";

/** Four, whatever the machine has: some only wait. */
const MAX_WORKERS = 4;

/**
 * All projects of `npm test` and `npm run nightly` in one run, with one queue of files for its
 * workers. Which project is of which suite stands in `deploy/testing/projects.mjs`.
 */
export default defineConfig({
  test: {
    projects: [...PROJECTS, ...NIGHTLY_PROJECTS].map((project) => ({ test: optionsOf(project) })),
  },
});

function optionsOf(project: SuiteProject) {
  const { name, folders, pool, sharesModules, globalSetup, timeoutMs, isAlone } = project;
  return {
    name,
    include: folders.map((folder) => `test/${folder}/*.test.ts`),
    pool,
    isolate: sharesModules !== true,
    globalSetup: [...(globalSetup ?? [])],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    maxWorkers: isAlone ? 1 : MAX_WORKERS,
    // Those that go one after the other come first, while the checks of the sources run beside.
    sequence: { groupOrder: isAlone ? 1 : 2 },
  };
}
