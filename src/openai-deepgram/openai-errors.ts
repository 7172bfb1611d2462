import { Type } from "@sinclair/typebox";
import { type AppError, type ErrorCode, errorStatus } from "../base/errors.ts";
import type { ErrorDialect } from "../rest/route.ts";

const errorSchema = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: "What happened, as a sentence for people" }),
      type: Type.String({
        description:
          "`invalid_request_error` when the request has to change, `authentication_error`, `permission_error`, `rate_limit_error`, else `server_error`",
        examples: ["invalid_request_error"],
      }),
      param: Type.Union([Type.String(), Type.Null()], {
        description: "The parameter that is wrong, if it is one",
        examples: ["language"],
      }),
      code: Type.Union([Type.String(), Type.Null()], {
        description: "For programs: `X-Error-Code`, or one of OpenAI's where it has one",
        examples: ["invalid_parameter"],
      }),
    }),
  },
  { $id: "OpenAiError", description: "An error in the form of OpenAI's interface" },
);

/** Codes that programs know from OpenAI. */
const CODES: Partial<Record<ErrorCode, string>> = {
  unauthorized: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
};

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

const BAD_REQUESTS: readonly ErrorCode[] = [
  "not_audio",
  "unsupported_media_type",
  "language_unsupported",
];

/** OpenAI answers 400 to files and languages that it cannot read. */
function statusOf(code: ErrorCode): number {
  return BAD_REQUESTS.includes(code) ? 400 : errorStatus(code);
}

/** The errors of OpenAI's interface (https://platform.openai.com/docs/guides/error-codes). */
export const OPENAI_ERRORS: ErrorDialect = {
  prefix: "/compat/openai/",
  schema: errorSchema,
  status: statusOf,
  body({ code, message, parameter }: AppError) {
    const isUnknownModel = code === "not_found" && parameter === "model";
    const known = isUnknownModel ? "model_not_found" : CODES[code];
    const type = typeOf(statusOf(code));
    return { error: { message, type, param: parameter ?? null, code: known ?? code } };
  },
};
