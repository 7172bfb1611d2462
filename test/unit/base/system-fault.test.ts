import { describe, expect, it } from "vitest";
import { AppError, systemFault, toAppError } from "../../../src/base/errors.ts";
import { problemAnswer } from "../../../src/http/server/problem.ts";

const failed = (code: string) => Object.assign(new Error(`${code}: it failed`), { code });
const FULL = ["ENOSPC", "EDQUOT"];
const SICK = ["EROFS", "EIO", "EMFILE", "ENFILE", "ESTALE", "EACCES", "EPERM", "ETIMEDOUT"];
const AWAY = ["ENOTCONN", "EHOSTDOWN", "ENODEV", "ENXIO", "EBUSY", "EAGAIN", "ENOMEM"];

describe("faults of the system", () => {
  it.each([
    ...FULL.map((errno) => [errno, 507, "storage_full"] as const),
    ...[...SICK, ...AWAY].map((errno) => [errno, 503, "unavailable"] as const),
  ])("system fault: %s is %i with Retry-After", (errno, status, code) => {
    const { headers, ...answer } = problemAnswer(failed(errno));
    expect([answer.status, headers?.["X-Error-Code"]]).toEqual([status, code]);
    expect(Number(headers?.["Retry-After"])).toBeGreaterThan(0);
    // The path is nobody's business.
    expect(JSON.stringify(answer.body)).not.toContain("it failed");
  });

  it("system fault: what is our own mistake stays one, but where any error is the disk's", () => {
    for (const errno of ["ENOENT", "EINVAL", "ERR_INVALID_ARG_TYPE"]) {
      expect(toAppError(failed(errno)).code).toBe("internal");
    }
    expect(systemFault(failed("ENOENT"), true)?.code).toBe("unavailable");
    expect(systemFault(failed("ERR_INVALID_ARG_TYPE"), true)).toBeUndefined();
    expect(systemFault(new Error("other"), true)).toBeUndefined();
  });

  it("system fault: whatever passes by itself says when to come again", () => {
    const wait = (code: "timeout" | "unavailable" | "internal" | "conflict", retryAfter?: number) =>
      problemAnswer(new AppError(code, "No.", retryAfter === undefined ? {} : { retryAfter }))
        .headers?.["Retry-After"];
    expect([wait("timeout"), wait("unavailable"), wait("unavailable", 7.2)]).toEqual([
      "2",
      "2",
      "8",
    ]);
    expect([wait("internal"), wait("conflict")]).toEqual([undefined, undefined]);
  });
});
