import { isId } from "./ids.ts";

const LONGEST = 80;
/**
 * Matches characters that must not be quoted: control characters and those that affect the display
 * of text around them.
 */
const UNSHOWN = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Text of a caller, made fit for a sentence: one line of bounded length. */
export function shown(text: string): string {
  const plain = text.slice(0, LONGEST + 1).replaceAll(UNSHOWN, "?");
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
}

/**
 * The HTTP status of each error code; a closed list for the one error class, `AppError`.
 *
 * A code is for machines (`X-Error-Code`, gRPC details, live `Error` frames); the message is for
 * people. Every caller sees the message, so it must not contain anything that the caller may not
 * know: such details belong into `cause`, which is never sent. Errors cross processes as code and
 * message and are rebuilt by code, never recognised by class.
 */
export const ERROR_STATUS = {
  bad_request: 400,
  invalid_json: 400,
  invalid_body: 400,
  invalid_parameter: 400,
  unauthorized: 401,
  invalid_credentials: 401,
  invalid_token: 401,
  invalid_api_key: 401,
  forbidden: 403,
  key_suspended: 403,
  elevation_required: 403,
  proof_required: 403,
  quota_exceeded: 403,
  guest_access_closed: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  code_in_use: 409,
  not_paired: 409,
  already_recording: 409,
  already_claimed: 409,
  external_id_taken: 409,
  chunk_conflict: 409,
  session_ended: 409,
  superseded: 409,
  session_deleted: 409,
  job_active: 409,
  idempotency_in_progress: 409,
  body_timeout: 408,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  not_audio: 422,
  upload_held: 423,
  checksum_mismatch: 460,
  language_unsupported: 422,
  idempotency_mismatch: 422,
  rate_limited: 429,
  slow_down: 429,
  internal: 500,
  unavailable: 503,
  overloaded: 503,
  worker_broken: 503,
  engine_unavailable: 503,
  storage_full: 507,
  lease_lost: 503,
  stale_epoch: 503,
  timeout: 503,
  too_late: 503,
  outcome_unknown: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  "rate_limited",
  "slow_down",
  "unavailable",
  "overloaded",
  "worker_broken",
  "engine_unavailable",
  "storage_full",
  "lease_lost",
  "stale_epoch",
  "timeout",
  "body_timeout",
  "idempotency_in_progress",
]);

interface AppErrorOptions {
  cause?: unknown;
  /** Seconds after which a retry makes sense (`Retry-After`). */
  retryAfter?: number;
  /** The parameter of the request that is wrong, for interfaces whose errors name it. */
  parameter?: string;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;
  readonly parameter: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.parameter = options.parameter;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

/** True for an AppError, and with `code` for one of that code. */
export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}

/** A 404 that is the same for an unknown id and for one that is hidden from this caller. */
export function unknownThing(what: string, id: string): AppError {
  const text = isId(id)
    ? `There is no ${what} ${id}.`
    : `"${shown(id)}" is not the id of a ${what}.`;
  return new AppError("not_found", text.replace(/ a (?=[aeio]|upload)/, " an "));
}

/**
 * Replaces a 404 of a parent resource by one of the resource itself, which reveals nothing of its
 * parent.
 */
export async function behind<T>(what: string, id: string, looked: Promise<T>): Promise<T> {
  try {
    return await looked;
  } catch (error) {
    throw isAppError(error, "not_found") ? unknownThing(what, id) : error;
  }
}

/** Codes of a full disk, or of a full share of it. */
const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Codes of a disk, or of a host, that cannot do it just now: read-only after a fault, a network's
 * file system that is away, rights that were taken, no descriptors or memory left.
 */
const SICK: ReadonlySet<string> = new Set([
  ...["EROFS", "EIO", "ESTALE", "EACCES", "EPERM", "ENODEV", "ENXIO", "EREMOTEIO", "EUCLEAN"],
  ...["ETIMEDOUT", "ENOTCONN", "EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH"],
  ...["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EBUSY", "ENOLCK", "EINTR"],
]);

/** Seconds after which a sick disk is worth another try. */
const DISK_RETRY_AFTER = 10;

/**
 * What the system's error says of a disk or the host: `storage_full`, or `unavailable`; undefined
 * for errors of something else. With `any`, each error of the system counts as such a fault: for
 * work on files that has to succeed while the disk is well.
 */
export function systemFault(error: unknown, any = false): AppError | undefined {
  const errno = errnoOf(error) ?? "";
  const options = { cause: error, retryAfter: DISK_RETRY_AFTER };
  if (FULL.has(errno)) {
    return new AppError("storage_full", "The disk is full; nothing was stored.", options);
  }
  if (!SICK.has(errno) && !(any && /^E[A-Z0-9]+$/.test(errno))) return undefined;
  const message = "The service's storage cannot be used just now. Please try again.";
  return new AppError("unavailable", message, options);
}

/**
 * The error itself; what `systemFault` makes of an error of the system; or an `internal` one that
 * carries it as its cause.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const fault = systemFault(error);
  if (fault !== undefined) return fault;
  return new AppError("internal", "Something went wrong on our side. Please try again.", {
    cause: error,
  });
}

/** A readable message for any thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a file system's error, for example `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}
