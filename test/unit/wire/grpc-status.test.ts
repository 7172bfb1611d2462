import { Metadata, status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { AppError, ERROR_CODES } from "../../../src/base/errors.ts";
import { fromGrpcFailure, toGrpcFailure } from "../../../src/wire/grpc-status.ts";

describe("grpc status: errors across a call", () => {
  for (const code of ERROR_CODES) {
    it(`${code} comes out as it went in`, () => {
      const error = fromGrpcFailure(toGrpcFailure(new AppError(code, "A sentence.")));
      expect(error).toMatchObject({ code, message: "A sentence." });
    });
  }

  it("uses the status that peers in other languages expect", () => {
    expect(toGrpcFailure(new AppError("overloaded", "")).code).toBe(status.RESOURCE_EXHAUSTED);
    expect(toGrpcFailure(new AppError("unavailable", "")).code).toBe(status.UNAVAILABLE);
    expect(toGrpcFailure(new AppError("unauthorized", "")).code).toBe(status.UNAUTHENTICATED);
    expect(toGrpcFailure(new AppError("timeout", "")).code).toBe(status.DEADLINE_EXCEEDED);
    expect(toGrpcFailure(new AppError("internal", "")).code).toBe(status.INTERNAL);
  });

  it("goes by the status when the trailers say nothing known", () => {
    const metadata = new Metadata();
    metadata.set("x-error-code", "no_such_code");
    const failure = { code: status.UNAVAILABLE, details: "gone", metadata };
    expect(fromGrpcFailure(failure).code).toBe("unavailable");
    expect(fromGrpcFailure({ code: status.DATA_LOSS, details: "" }).code).toBe("internal");
  });
});
