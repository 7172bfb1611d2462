/** Entry point of the set-up: one line of JSON on standard output, or one sentence on standard error. */
import { errorMessage } from "../base/errors.ts";
import { setUpDatabase } from "./set-up-database.ts";

try {
  process.stdout.write(`${JSON.stringify(await setUpDatabase(process.env))}\n`);
} catch (error) {
  process.stderr.write(`Set-up failed: ${errorMessage(error)}\n`);
  process.exitCode = 1;
}
