import { ApiError, Unreachable } from "../../client/errors.ts";
import { CommandFailure } from "./command-context.ts";

/** Exit codes of the `voice` command, for scripts. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Not signed in, or not allowed. */
  refused: 3,
  /** What was asked for does not exist, or not for this user. */
  missing: 4,
  /** The service did not answer or is overloaded: the same may work later. */
  unavailable: 5,
  interrupted: 130,
} as const;

/** The table of exit codes that `voice --help` shows. */
export const EXIT_HELP = `
Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    not signed in, or not allowed
  4    no such thing, or not for you
  5    the service does not answer or is overloaded; try again later
  130  interrupted`;

/** The exit code for an error that a command threw. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Unreachable) return EXIT.unavailable;
  if (error instanceof ApiError) {
    return error.code === "session_deleted" ? EXIT.missing : codeOfStatus(error.status);
  }
  if (error instanceof CommandFailure) return error.exitCode;
  return EXIT.failed;
}

function codeOfStatus(status: number): number {
  if (status === 401 || status === 403) return EXIT.refused;
  if (status === 404 || status === 410) return EXIT.missing;
  if (status === 408 || status === 429 || status >= 500) return EXIT.unavailable;
  return EXIT.failed;
}
