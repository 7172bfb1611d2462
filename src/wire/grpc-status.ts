import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { AppError, type ErrorCode, isErrorCode } from "../base/errors.ts";

const CODE_KEY = "x-error-code";

const STATUS_OF_HTTP: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  409: status.FAILED_PRECONDITION,
  412: status.FAILED_PRECONDITION,
  413: status.RESOURCE_EXHAUSTED,
  415: status.INVALID_ARGUMENT,
  416: status.OUT_OF_RANGE,
  422: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  500: status.INTERNAL,
  503: status.UNAVAILABLE,
  507: status.RESOURCE_EXHAUSTED,
};

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  [status.CANCELLED]: "unavailable",
  [status.INVALID_ARGUMENT]: "bad_request",
  [status.DEADLINE_EXCEEDED]: "timeout",
  [status.NOT_FOUND]: "not_found",
  [status.PERMISSION_DENIED]: "forbidden",
  [status.UNAUTHENTICATED]: "unauthorized",
  [status.RESOURCE_EXHAUSTED]: "overloaded",
  [status.FAILED_PRECONDITION]: "conflict",
  [status.ABORTED]: "unavailable",
  [status.UNAVAILABLE]: "unavailable",
};

function statusOf(error: AppError): status {
  if (error.code === "overloaded") return status.RESOURCE_EXHAUSTED;
  if (error.code === "timeout") return status.DEADLINE_EXCEEDED;
  return STATUS_OF_HTTP[error.status] ?? status.INTERNAL;
}

/** The error that ends a gRPC call: the nearest status, and the error code in the trailers. */
interface GrpcFailure {
  code: status;
  details: string;
  metadata: Metadata;
}

export function toGrpcFailure(error: AppError): GrpcFailure {
  const metadata = new Metadata();
  metadata.set(CODE_KEY, error.code);
  return { code: statusOf(error), details: error.message, metadata };
}

/** True for an error that the peer itself sent; false for one of the connection. */
export function isReportedByPeer(failure: { metadata?: Metadata }): boolean {
  return failure.metadata?.get(CODE_KEY)[0] !== undefined;
}

/** Rebuilds a peer's error: by the code in its trailers, else by its status. */
export function fromGrpcFailure(
  failure: Pick<ServiceError, "code" | "details"> & { metadata?: Metadata },
): AppError {
  const told = failure.metadata?.get(CODE_KEY)[0]?.toString() ?? "";
  const code = isErrorCode(told) ? told : (CODE_OF_STATUS[failure.code] ?? "internal");
  return new AppError(code, failure.details || `The call ended with gRPC status ${failure.code}.`);
}
