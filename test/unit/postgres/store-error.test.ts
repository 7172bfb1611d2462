import { StatementTimeoutError } from "slonik";
import { describe, expect, it } from "vitest";
import { toStoreError } from "../../../src/postgres/store-error.ts";

function databaseError(code: string, message = `the database says ${code}`): Error {
  const cause = Object.assign(new Error(message), { code });
  return new Error(message, { cause });
}

describe("store errors", () => {
  it.each([
    ["25P03", "Connection terminated due to idle-in-transaction timeout."],
    ["57P01", "terminating connection due to administrator command"],
    ["08006", "connection failure"],
    ["57014", "canceling statement due to statement timeout"],
    ["40P01", "deadlock detected"],
    ["40001", "could not serialize access due to concurrent update"],
    ["55P03", "canceling statement due to lock timeout"],
    ["25006", "cannot execute INSERT in a read-only transaction"],
    ["58030", "could not extend file"],
    ["53200", "out of memory"],
    ["XX000", "could not open relation with OID 1"],
    ["ENOTFOUND", "getaddrinfo ENOTFOUND db"],
  ])("store error: %s may be tried again, and after how long is said", (code, message) => {
    const error = toStoreError(databaseError(code, message));
    expect(error).toMatchObject({ code: "unavailable", retryable: true });
    expect(error).toHaveProperty("retryAfter", expect.any(Number));
  });

  it("store error: a statement's time limit may be tried again as slonik wraps it, too", () => {
    const cause = Object.assign(new Error("canceling statement due to statement timeout"), {
      code: "57014",
    });
    expect(toStoreError(new StatementTimeoutError(cause))).toMatchObject({ code: "unavailable" });
  });

  it.each(["23505", "22P02", "42601", "XX001"])(
    "store error: %s is no mood of the database and stays what it is",
    (code) => {
      const refusal = databaseError(code);
      expect(toStoreError(refusal)).toBe(refusal);
    },
  );
});
