// The `voice` command on the pinned Node 22.
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { handOver } from "../setup/hand-over.mjs";
import { PROJECT, pinnedNode } from "../setup/paths.mjs";

if (existsSync(pinnedNode())) {
  const entry = join(PROJECT, "src/cli/main.ts");
  process.exitCode = await handOver(entry, process.argv.slice(2), { owned: false });
} else {
  process.stderr.write("voice: not set up yet. Run `npm run up` in the project folder first.\n");
  process.exitCode = 1;
}
