import { describe, expect, it } from "vitest";
import { retryNotice } from "../../../../src/cli/view/retry-notice.ts";
import { Unreachable } from "../../../../src/client/errors.ts";

const CALL = "GET /devices/01a22819-70d6-7b5f-b47f-d51a566bd695/stream";

describe("notices of what is tried again", () => {
  it("fit into one row of a terminal, whatever gave no answer", () => {
    const broken = new Unreachable(CALL, new Error("read ECONNRESET"), 3_000);
    expect(retryNotice(broken, 412)).toBe("no answer: read ECONNRESET; trying again in 0.4 s");
    const late = new Unreachable(CALL, new DOMException("", "TimeoutError"), 3_000);
    expect(retryNotice(late, 12_000)).toBe("no answer within 3 s; trying again in 12.0 s");
    expect(retryNotice(new Error("Busy."), 1_000)).toBe("Busy.; trying again in 1.0 s");
  });
});
