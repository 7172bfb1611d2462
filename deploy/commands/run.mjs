// `node deploy/run.mjs FILE.ts [arguments]`: the same set-up as `npm run up`, then FILE on Node 22.
import { resolve } from "node:path";
import process from "node:process";
import { runEntry } from "../setup/entry.mjs";
import { handOver } from "../setup/hand-over.mjs";
import { prepare } from "../setup/prepare.mjs";
import { StepError } from "../setup/step-error.mjs";

await runEntry(async (screen) => {
  const [file, ...args] = process.argv.slice(2);
  if (!file) throw new StepError("no file to run", "node deploy/run.mjs FILE.ts [arguments]");
  const env = await prepare(screen);
  return handOver(resolve(file), args, { env });
});
