/** Entry point of the `voice` command. */
import process from "node:process";
import { CommanderError } from "commander";
import { reasonOf } from "./client/command-context.ts";
import { buildProgram } from "./program.ts";

const interrupt = new AbortController();
const { env, stdin, stdout, stderr } = process;

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    // A second Ctrl-C exits at once.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });
}
// A closed output, as in `voice tail … | head`, is not a failure.
stdout.on("error", () => process.exit(0));

try {
  const program = buildProgram({ env, stdin, stdout, stderr, signal: interrupt.signal });
  await program.parseAsync(process.argv);
  if (interrupt.signal.aborted) process.exitCode = 130;
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else if (interrupt.signal.aborted) process.exitCode = 130;
  else {
    stderr.write(`voice: ${reasonOf(error)}\n`);
    process.exitCode = 1;
  }
}
