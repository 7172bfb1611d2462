import type { handleUnaryCall, ServerUnaryCall } from "@grpc/grpc-js";
import type { Principal } from "../access/principal.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, errorMessage, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { isStorable } from "../rest/storable-text.ts";
import { toGrpcFailure } from "../wire/grpc-status.ts";
import type { Budget, CallAdmission } from "./call-admission.ts";

export interface UnaryMethod<Q, A> {
  decode(bytes: Buffer): Q;
  budget: Budget;
  /** Time limit of a call whose client set none, milliseconds. */
  defaultMs: number;
  /** Handles the call; `signal` aborts when nobody waits for the answer any more. */
  handle(request: Q, caller: { principal: Principal; signal: AbortSignal }): Promise<A>;
}

/**
 * Decodes a request. Throws `invalid_body` for bytes that are not one, and for text that cannot be stored
 * or looked for.
 */
export function decodeRequest<Q>(decode: (bytes: Buffer) => Q, bytes: Buffer): Q {
  let request: Q;
  try {
    request = decode(bytes);
  } catch (cause) {
    throw new AppError("invalid_body", "The request is not the message it should be.", { cause });
  }
  if (isStorable(request)) return request;
  throw new AppError("invalid_body", "The request holds the character U+0000.");
}

/** Creates a handler for grpc-js, which passes the request as bytes. */
export function unaryCall<Q, A>(
  admission: CallAdmission,
  log: Log,
  method: UnaryMethod<Q, A>,
): handleUnaryCall<Buffer, A> {
  return (call, answer) => {
    answerCall(admission, method, call).then(
      (message) => answer(null, message),
      (thrown: unknown) => {
        const error = toAppError(thrown);
        logFailure(log, call.getPath(), error);
        answer(toGrpcFailure(error));
      },
    );
  };
}

async function answerCall<Q, A>(
  admission: CallAdmission,
  { decode, budget, defaultMs, handle }: UnaryMethod<Q, A>,
  call: ServerUnaryCall<Buffer, A>,
): Promise<A> {
  const gone = new AbortController();
  // Also emitted at the client's deadline, which grpc-js itself answers.
  call.on("cancelled", () => gone.abort());
  const work = async (): Promise<A> => {
    const principal = admission.admit(call.metadata, budget);
    return handle(decodeRequest(decode, call.request), { principal, signal: gone.signal });
  };
  try {
    const hasDeadline = Number.isFinite(Number(call.getDeadline()));
    return await (hasDeadline ? work() : withTimeout(work(), defaultMs, "The call"));
  } finally {
    gone.abort();
  }
}

/** Logs which call failed and why; refusals are logged at `debug`. */
export function logFailure(log: Log, method: string, error: AppError): void {
  const fields = { method, code: error.code };
  if (error.status < 500) return log.debug(fields, "gRPC call refused");
  const cause = errorMessage(error.cause ?? error);
  if (error.code === "internal") log.error({ ...fields, error: cause }, "gRPC call failed");
  else log.warn({ ...fields, error: cause }, "gRPC call failed");
}
