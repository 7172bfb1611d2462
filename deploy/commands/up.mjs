// `npm run up`: sets up what is missing, then supervises the service on the pinned Node 22.
// Plain JavaScript with Node's own modules only: it runs before anything is installed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runEntry } from "../setup/entry.mjs";
import { handOver } from "../setup/hand-over.mjs";
import { PROJECT } from "../setup/paths.mjs";
import { prepare } from "../setup/prepare.mjs";

await runEntry(async (screen) => {
  if (process.argv.includes("--help")) {
    process.stdout.write(readFileSync(join(PROJECT, "deploy/supervisor/help.txt"), "utf8"));
    return 0;
  }
  const env = await prepare(screen);
  return handOver(join(PROJECT, "deploy/supervisor/main.ts"), process.argv.slice(2), { env });
});
