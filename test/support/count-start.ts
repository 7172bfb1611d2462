import { appendFileSync } from "node:fs";
import process from "node:process";

/** Where each started installation of a run has a line; the runner prints how many there are. */
const STARTS = "VOICE_TEST_STARTS";

/** Called where an installation is started; the line names the test file that asked for it. */
export function countStart(): void {
  const file = process.env[STARTS];
  if (file === undefined) return;
  const asker = /test\/[\w-]+\/[\w-]+\.test\.ts/.exec(new Error("started").stack ?? "")?.[0];
  // One write to the end of the file: lines of several processes do not mix.
  appendFileSync(file, `${asker ?? "shared by files"}\n`);
}
