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
 * The HTTP status of each error code, and what the code means; a closed list for the one error class,
 * `AppError`.
 *
 * A code is for machines (`X-Error-Code`, gRPC details, live `Error` frames); the message is for
 * people. Every caller sees the message, so it must not contain anything that the caller may not
 * know: such details belong into `cause`, which is never sent. Errors cross processes as code and
 * message and are rebuilt by code, never recognised by class.
 */
const ERRORS = {
  bad_request: [400, "The request makes no sense as a whole."],
  invalid_json: [400, "The body is not JSON in UTF-8."],
  invalid_body: [400, "A member of the body is missing, of the wrong type or out of range."],
  invalid_parameter: [400, "A parameter is unknown, of the wrong type or out of range."],
  unauthorized: [
    401,
    "Nobody is signed in: the credential is missing, or one of another kind is needed.",
  ],
  invalid_credentials: [401, "E-mail address and password, code or secret are not right together."],
  invalid_token: [401, "The token is not valid here: expired, ended, or of another service."],
  invalid_api_key: [401, "The key is not valid: incomplete, revoked, replaced or expired."],
  forbidden: [403, "The caller may not do this."],
  key_suspended: [403, "The key stands still, as whoever made it may no longer do so."],
  elevation_required: [403, "An administrator needs a content elevation with a reason for this."],
  proof_required: [403, "The password is needed once more, or a fresh sign-in."],
  quota_exceeded: [403, "A ceiling of the workspace or the user is reached."],
  guest_access_closed: [403, "The session lets no guests in, or no longer."],
  not_found: [404, "There is no such thing for this caller."],
  method_not_allowed: [405, "The address does not know this method; `Allow` says which it knows."],
  conflict: [409, "The state of the thing does not allow this."],
  code_in_use: [409, "Another device has published the same pairing code."],
  not_paired: [409, "The device is not paired, or not yet."],
  already_recording: [409, "The device records already; the message names the session."],
  already_claimed: [409, "Somebody else has claimed the voice."],
  external_id_taken: [
    409,
    "Another session of the workspace has this `external_id`; the message names it to whoever may read it.",
  ],
  chunk_conflict: [409, "Other bytes are stored for this sequence."],
  session_ended: [409, "The session has ended, and this lies beyond its end."],
  superseded: [409, "A newer connection of the same device took its place."],
  session_deleted: [409, "The session was deleted."],
  job_active: [409, "The job is queued or running already."],
  idempotency_in_progress: [
    409,
    "A request with the same Idempotency-Key is still being carried out.",
  ],
  body_timeout: [408, "The body came too slowly; nothing was done."],
  precondition_failed: [412, "The thing has changed since the caller read it."],
  payload_too_large: [413, "The body, or the audio in it, is too large."],
  unsupported_media_type: [415, "The body is of a kind that is not taken."],
  range_not_satisfiable: [416, "Nothing of the range is there."],
  not_audio: [422, "What was sent is no audio that can be read."],
  upload_held: [
    423,
    "Another request brings bytes of the same file just now. Retry a little later.",
  ],
  checksum_mismatch: [
    460,
    "The bytes do not agree with `Upload-Checksum`; nothing of them was kept.",
  ],
  language_unsupported: [
    422,
    "No speech engine of this installation reads the language; the message names those that can be read.",
  ],
  idempotency_mismatch: [422, "The same Idempotency-Key came with another request."],
  rate_limited: [429, "Too many requests; wait for `Retry-After`."],
  slow_down: [429, "The device asks more often than `interval` allows."],
  internal: [500, "Something went wrong on the service's side."],
  unavailable: [503, "A part of the service does not answer just now."],
  overloaded: [503, "There is more to do than can be done just now."],
  worker_broken: [503, "A worker broke while it read this audio."],
  engine_unavailable: [503, "The speech engine does not answer, or is not set up."],
  storage_full: [507, "There is no room to store this; nothing was taken."],
  lease_lost: [503, "The session moved to another process; try again."],
  stale_epoch: [503, "The session was taken over by another process; try again."],
  timeout: [503, "No answer came in time."],
  too_late: [503, "The deadline was over before it was done; it was not done."],
  outcome_unknown: [
    503,
    "Nobody can tell just now whether it was done; the same Idempotency-Key tells.",
  ],
} as const satisfies Readonly<Record<string, readonly [status: number, meaning: string]>>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}

/** The HTTP status. */
export function errorStatus(code: ErrorCode): number {
  return ERRORS[code][0];
}

/** A sentence for the documents. */
export function errorMeaning(code: ErrorCode): string {
  return ERRORS[code][1];
}

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
    return errorStatus(this.code);
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
