/** Entry point of the `voice` command. */
import process from "node:process";
import { EXIT } from "./client/exit-codes.ts";
import { runCommand } from "./program.ts";

const interrupt = new AbortController();
const { signal } = interrupt;
const { env, stdin, stdout, stderr } = process;

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    // A second Ctrl-C exits at once.
    if (signal.aborted) process.exit(EXIT.interrupted);
    interrupt.abort();
  });
}

let outputFailure: NodeJS.ErrnoException | undefined;
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (outputFailure !== undefined) return;
  outputFailure = error;
  interrupt.abort();
  // A closed output, as in `voice tail … | head`, ends the command, and is not a failure.
  if (error.code === "EPIPE") return;
  stderr.write(`voice: cannot write the output: ${error.message}\n`);
  process.exitCode = EXIT.failed;
});
stderr.on("error", () => interrupt.abort());

const context = { env, stdin, stdout, stderr, signal };
const code = await runCommand(process.argv.slice(2), context, endOfInterrupt);
if (code !== EXIT.done) process.exitCode = code;

function endOfInterrupt(): number {
  if (outputFailure === undefined) return EXIT.interrupted;
  return outputFailure.code === "EPIPE" ? EXIT.done : EXIT.failed;
}
