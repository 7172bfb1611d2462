import type { AppError } from "../base/errors.ts";
import { toGrpcFailure } from "../wire/grpc-status.ts";

/** The documented way in grpc-js to end a streaming call with a status of one's own. */
export function failStream(
  call: { emit(event: "error", error: Error): boolean },
  error: AppError,
): void {
  call.emit("error", Object.assign(new Error(error.message), toGrpcFailure(error)));
}
