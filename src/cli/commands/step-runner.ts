import { type CommandContext, writeJson } from "../client/command-context.ts";
import { CommandFailure, reasonOf } from "../client/command-failure.ts";
import { printable } from "../view/transcript-line.ts";

/** Runs one step, and tells its name, what was found or what is wrong, and how long it took. */
export type Step = <T>(
  name: string,
  advice: string,
  work: () => Promise<[result: T, found: string]>,
) => Promise<T>;

const NEW_ROW = "\r\u001b[K";

/** A row for each step on a terminal, else an object; a step that fails throws, with its advice. */
export function stepRunner({ stdout }: Pick<CommandContext, "stdout">): Step {
  const tell = (name: string, ok: boolean, found: string, ms: number, advice: string) => {
    if (stdout.isTTY) {
      // Over the ^C that the terminal may have shown.
      stdout.write(
        `${NEW_ROW}${ok ? "✓" : "✗"} ${name.padEnd(10)} ${printable(found)} (${spent(ms)})\n`,
      );
    } else {
      const outcome = ok ? { found } : { reason: found, advice };
      writeJson(stdout, { step: name, ok, ...outcome, ms });
    }
  };
  return async (name, advice, work) => {
    const start = performance.now();
    const ms = () => Math.round(performance.now() - start);
    try {
      const [result, found] = await work();
      tell(name, true, found, ms(), advice);
      return result;
    } catch (error) {
      const isAborted = error instanceof Error && error.name === "AbortError";
      const reason = isAborted ? "interrupted" : reasonOf(error);
      tell(name, false, reason, ms(), advice);
      throw new CommandFailure(`${name} failed: ${reason}. Advice: ${advice}`, error);
    }
  };
}

function spent(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
