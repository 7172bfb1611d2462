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
