/**
 * Thrown when a command fails; the message is one sentence for the user. The exit code is 1 unless
 * another one of `EXIT` is given.
 */
export class CommandFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, cause?: unknown, exitCode = 1) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CommandFailure";
    this.exitCode = exitCode;
  }
}

/** The parts of the process that commands use. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Aborted at Ctrl-C or SIGTERM; commands then finish cleanly. */
  readonly signal: AbortSignal;
}

/** True for terminals whose user did not disable colour (no-color.org). */
export function wantsColour({ env, stdout }: CommandContext): boolean {
  return stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}

/** Writes one line of machine-readable output. */
export function writeJson(output: NodeJS.WritableStream, value: unknown): void {
  output.write(`${JSON.stringify(value)}\n`);
}
