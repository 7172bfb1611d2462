import { AppError } from "../../../base/errors.ts";

const RETRY_AFTER = 10;
const FULL: ReadonlySet<string> = new Set([
  ...["QuotaExceeded", "QuotaExceededException", "ServiceQuotaExceededException"],
  ...["InsufficientStorage", "XMinioStorageFull", "AccountQuotaExceeded"],
]);

/** What an S3 server answered: its code, and the HTTP status when there was an answer at all. */
export function s3FaultOf(error: unknown): { code: string; status: number | undefined } {
  if (!(error instanceof Error)) return { code: "", status: undefined };
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return { code: error.name, status: $metadata?.httpStatusCode };
}

export function isMissing(error: unknown): boolean {
  const { code, status } = s3FaultOf(error);
  return status === 404 && code !== "NoSuchBucket" && code !== "NoSuchUpload";
}

/** Another one has the name, or what should be replaced is another one by now. */
export function isRefusedByCondition(error: unknown): boolean {
  return s3FaultOf(error).status === 412;
}

/** Two wrote the name at once, and neither may have won. */
export function isConflict(error: unknown): boolean {
  return s3FaultOf(error).status === 409;
}

/** The error as one that callers may retry; a missing object as `not_found`. */
export function asAppError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isMissing(error)) {
    return new AppError("not_found", "The audio of this chunk is not in the store.", {
      cause: error,
    });
  }
  const { code, status } = s3FaultOf(error);
  const options = { cause: error, retryAfter: RETRY_AFTER };
  if (status === 507 || FULL.has(code)) {
    return new AppError("storage_full", "The store is full; nothing was stored.", options);
  }
  const message = "The service's storage cannot be used just now. Please try again.";
  return new AppError("unavailable", message, options);
}

/** In a few words, for operators: the code and what the server or the system said. */
export function s3FaultText(error: unknown): string {
  const cause = error instanceof AppError ? (error.cause ?? error) : error;
  const { code, status } = s3FaultOf(cause);
  const said = cause instanceof Error ? cause.message : String(cause);
  const parts = [code, status === undefined ? "" : `HTTP ${status}`].filter((each) => each !== "");
  return `${parts.join(", ")}: ${said}`;
}

/** What an operator can do about what a server answered, a sentence. */
export function s3ReasonOf(error: unknown): string {
  const { code, status } = s3FaultOf(error);
  if (status === 404) return "There is no such bucket: create it, or correct AUDIO_STORE.";
  if (status === 403 || status === 401) {
    return "The server refuses these credentials for it (AWS_ACCESS_KEY_ID and so on).";
  }
  if (status === 301 || code === "PermanentRedirect") {
    return "It is in another region: correct AUDIO_S3_REGION.";
  }
  if (code === "CredentialsProviderError") {
    return "There are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else the AWS SDK reads.";
  }
  return `The server does not answer as one of S3 does (AUDIO_S3_ENDPOINT, AUDIO_S3_REGION): ${s3FaultText(error)}`;
}
