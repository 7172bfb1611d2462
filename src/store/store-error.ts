import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  StatementTimeoutError,
} from "slonik";
import { AppError } from "../base/errors.ts";

/** SQLSTATE of a database error, through the wrappers around it. */
export function sqlState(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string" && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

function isOutage(error: unknown, state: string | undefined): boolean {
  // 25P03: this process stood still in the middle of a transaction, and the server gave it up.
  if (state !== undefined) return /^(08|57P0|53[34]00|25P03)/.test(state);
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string" && /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOST)/.test(code)) return true;
    if (/Connection terminated|Client has encountered a connection error/i.test(at.message)) {
      return true;
    }
  }
  return (
    error instanceof ConnectionError ||
    error instanceof BackendTerminatedError ||
    error instanceof BackendTerminatedUnexpectedlyError ||
    error instanceof StatementTimeoutError
  );
}

/**
 * What a storage failure means to a caller: `unavailable` when the outcome is
 * unknown or the database is away, `storage_full`, or the error as it is.
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
  if (isOutage(error, state)) {
    return new AppError(
      "unavailable",
      "The database is not reachable just now. Please try again.",
      {
        cause: error,
        retryAfter: 2,
      },
    );
  }
  return error;
}

/** Runs `work`, with storage failures mapped by `toStoreError`. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
}
