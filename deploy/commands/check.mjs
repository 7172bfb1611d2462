// `npm run check`: format, lint, types and imports at once: what has to hold for every commit.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runEntry } from "../setup/entry.mjs";
import { PROJECT } from "../setup/paths.mjs";
import { prepare } from "../setup/prepare.mjs";
import { runCheck } from "../testing/checks.mjs";

await runEntry(async (screen) => {
  const env = await prepare(screen);
  const check = (name) => runCheck(screen, name, env);
  // Made anew each time, as routes may have changed since; at first the others need it to be there.
  const client = check("client");
  if (!existsSync(join(PROJECT, "src/client/gen/api-schema.ts"))) await client;
  const types = client.then(async ({ failed }) => {
    if (failed > 0) return { failed: 0 };
    const [service, page] = [await check("types"), await check("page-types")];
    return { failed: service.failed + page.failed };
  });
  const checks = await Promise.all([client, check("lint"), check("imports"), types]);
  const failed = checks.reduce((sum, each) => sum + each.failed, 0);
  if (failed > 0) screen.fail("npm run format repairs what can be repaired by itself");
  return failed > 0 ? 1 : 0;
});
