import { Type } from "@sinclair/typebox";
import { type AppError, type ErrorCode, errorStatus } from "../base/errors.ts";
import type { ErrorDialect } from "../rest/route.ts";

const errorSchema = Type.Object(
  {
    err_code: Type.String({
      description: "What happened, for programs; `X-Error-Code` tells it more exactly",
      examples: ["INVALID_QUERY_PARAMETER"],
    }),
    err_msg: Type.String({ description: "What happened, as a sentence for people" }),
    // The caller may name it in X-Request-Id, so it need not be a UUID.
    request_id: Type.String({ minLength: 1, description: "Identifies the request in our logs" }),
  },
  { $id: "DeepgramError", description: "An error in the form of Deepgram's interface" },
);

const CODES: Partial<Record<ErrorCode, string>> = {
  unauthorized: "INVALID_AUTH",
  invalid_api_key: "INVALID_AUTH",
  forbidden: "FORBIDDEN",
  key_suspended: "FORBIDDEN",
  quota_exceeded: "FORBIDDEN",
  not_found: "NOT_FOUND",
  invalid_parameter: "INVALID_QUERY_PARAMETER",
  language_unsupported: "INVALID_QUERY_PARAMETER",
  payload_too_large: "PAYLOAD_TOO_LARGE",
  rate_limited: "TOO_MANY_REQUESTS",
  timeout: "REQUEST_TIMEOUT",
};

const BAD_REQUESTS: readonly ErrorCode[] = [
  "not_audio",
  "unsupported_media_type",
  "language_unsupported",
];

/** Deepgram answers 400 to files and languages that it cannot read. */
function statusOf(code: ErrorCode): number {
  return BAD_REQUESTS.includes(code) ? 400 : errorStatus(code);
}

function codeOf(code: ErrorCode): string {
  return CODES[code] ?? (statusOf(code) < 500 ? "Bad Request" : "INTERNAL_SERVER_ERROR");
}

/** The errors of Deepgram's interface (https://developers.deepgram.com/docs/errors). */
export const DEEPGRAM_ERRORS: ErrorDialect = {
  prefix: "/compat/deepgram/",
  schema: errorSchema,
  status: statusOf,
  body({ code, message }: AppError, requestId: string) {
    return { err_code: codeOf(code), err_msg: message, request_id: requestId };
  },
};
