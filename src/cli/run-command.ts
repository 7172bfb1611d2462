import { CommanderError } from "commander";
import { reasonOf } from "../client/errors.ts";
import type { CommandContext } from "./client/command-context.ts";
import { EXIT, exitCodeOf } from "./client/exit-codes.ts";
import { buildProgram } from "./program.ts";

/**
 * Runs `voice` with `args`, without the program's name, to its end, and says on standard error why it
 * failed. Resolves with the exit code; `endOfInterrupt` gives that of a command that was interrupted.
 */
export async function runCommand(
  args: readonly string[],
  context: CommandContext,
  endOfInterrupt: () => number = () => EXIT.interrupted,
): Promise<number> {
  try {
    await buildProgram(context).parseAsync([...args], { from: "user" });
    return context.signal.aborted ? endOfInterrupt() : EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (context.signal.aborted) return endOfInterrupt();
    context.stderr.write(`voice: ${reasonOf(error)}\n`);
    return exitCodeOf(error);
  }
}
