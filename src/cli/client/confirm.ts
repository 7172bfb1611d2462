import { createInterface } from "node:readline/promises";
import { type CommandContext, CommandFailure } from "./command-context.ts";

/**
 * Asks a question to be answered with yes on a terminal. Throws where there is none: `what` is then
 * named as what needs --yes.
 */
export async function isSure(
  question: string,
  what: string,
  { stdin, stderr, signal }: CommandContext,
): Promise<boolean> {
  if (!stdin.isTTY) throw new CommandFailure(`${what} asks on a terminal; elsewhere give --yes`);
  const reader = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const said = await reader.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(said.trim());
  } finally {
    reader.close();
  }
}
