/** A command that could not do its work; the message is one sentence for the person. Exit code 1. */
export class CommandFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CommandFailure";
  }
}

/** The message of anything thrown; a failed fetch hides its reason in `cause`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && error.message === "fetch failed") {
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    return [code, cause.message].find((text) => text !== "") ?? "connection failed";
  }
  return error.message || error.name;
}

/** What a command may touch of the process that runs it. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Fires at Ctrl-C or SIGTERM: finish cleanly. */
  readonly signal: AbortSignal;
}

/** Colour only for people, and only when they did not refuse it (no-color.org). */
export function wantsColour({ env, stdout }: CommandContext): boolean {
  return stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}

/** One line of machine-readable output. */
export function writeJson(output: NodeJS.WritableStream, value: unknown): void {
  output.write(`${JSON.stringify(value)}\n`);
}
