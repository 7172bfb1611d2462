/** Entry point of the `voice` command. */
import process from "node:process";
import { CommanderError } from "commander";
import { reasonOf } from "./client/command-context.ts";
import { EXIT, exitCodeOf } from "./client/exit-codes.ts";
import { buildProgram } from "./program.ts";

const interrupt = new AbortController();
const { env, stdin, stdout, stderr } = process;

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    // A second Ctrl-C exits at once.
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
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

try {
  const program = buildProgram({ env, stdin, stdout, stderr, signal: interrupt.signal });
  await program.parseAsync(process.argv);
  if (interrupt.signal.aborted) process.exitCode = endOfInterrupt();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  } else if (interrupt.signal.aborted) process.exitCode = endOfInterrupt();
  else {
    stderr.write(`voice: ${reasonOf(error)}\n`);
    process.exitCode = exitCodeOf(error);
  }
}

function endOfInterrupt(): number {
  if (outputFailure === undefined) return EXIT.interrupted;
  return outputFailure.code === "EPIPE" ? EXIT.done : EXIT.failed;
}
