import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
} from "slonik";
import { AppError } from "../base/errors.ts";

/** SQLSTATE of a database error, found through the errors that wrap it. */
export function sqlState(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string" && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

/** SQLSTATE of a server that takes no changes: a standby, or a former primary. */
export const READ_ONLY = "25006";

interface Mood {
  states: RegExp;
  message: string;
  /** Seconds. */
  retryAfter: number;
}

/**
 * Temporary failures of the database. They do not mean that the statement was wrong, and it is
 * unknown whether a change was made: the same statement may be repeated.
 */
const MOODS: readonly Mood[] = [
  {
    // 57P0: the server stops, starts, or ended the connection on request. 25P03, 25P04: this
    // process stalled within a transaction.
    states: /^(08|57P0|25P0[34])/,
    message: "The database is not reachable just now. Please try again.",
    retryAfter: 2,
  },
  {
    states: /^25006$/,
    message: "The database takes no changes just now. Please try again.",
    retryAfter: 2,
  },
  {
    states: /^(57014|53)/,
    message: "The database has too much to do just now. Please try again.",
    retryAfter: 5,
  },
  {
    // Deadlocks, conflicting changes, and locks that were held for too long.
    states: /^(40|55P03)/,
    message: "Somebody else changed the same thing at that moment. Please try again.",
    retryAfter: 1,
  },
  {
    // XX001 and XX002 are excluded: data that is damaged on disk stays damaged.
    states: /^(58|XX000)/,
    message: "The database has a fault just now. Please try again.",
    retryAfter: 5,
  },
];

const [AWAY] = MOODS;

function moodOf(error: unknown, state: string | undefined): Mood | undefined {
  if (state !== undefined) return MOODS.find(({ states }) => states.test(state));
  return isCutOff(error) ? AWAY : undefined;
}

/** True when the connection failed without an answer from the database. */
function isCutOff(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = (at as { code?: unknown }).code;
    if (
      typeof code === "string" &&
      /^(ECONN|EPIPE|ENOENT|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET)/.test(code)
    ) {
      return true;
    }
    if (/Connection terminated|Client has encountered a connection error/i.test(at.message)) {
      return true;
    }
  }
  return (
    error instanceof ConnectionError ||
    error instanceof BackendTerminatedError ||
    error instanceof BackendTerminatedUnexpectedlyError
  );
}

/**
 * Maps a storage failure: to `unavailable` when the outcome is unknown or the database cannot do it
 * now, to `storage_full`, or to the error itself.
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const state = sqlState(error);
  if (state === "53100") {
    return new AppError("storage_full", "The database's disk is full; nothing was saved.", {
      cause: error,
      retryAfter: 10,
    });
  }
  const mood = moodOf(error, state);
  if (mood === undefined) return error;
  return new AppError("unavailable", mood.message, { cause: error, retryAfter: mood.retryAfter });
}

/** Runs `work`, with storage failures mapped by `toStoreError`. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
}
