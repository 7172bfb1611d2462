#!/usr/bin/env node
// `npm run check`: format, lint, types and imports at once: what has to hold for every commit.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runEntry } from "./setup/entry.mjs";
import { PROJECT } from "./setup/paths.mjs";
import { prepare } from "./setup/prepare.mjs";
import { runCheck } from "./testing/checks.mjs";

await runEntry(async (screen) => {
  const env = await prepare(screen);
  if (!existsSync(join(PROJECT, "src/cli/gen/api-schema.ts")))
    await runCheck(screen, "client", env);
  const checks = ["lint", "imports", "types"].map((name) => runCheck(screen, name, env));
  const failed = (await Promise.all(checks)).reduce((sum, each) => sum + each.failed, 0);
  if (failed > 0) screen.fail("npm run format repairs what can be repaired by itself");
  return failed > 0 ? 1 : 0;
});
