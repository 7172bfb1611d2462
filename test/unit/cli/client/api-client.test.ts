import { expect, it } from "vitest";
import { ApiFailure, judge } from "../../../../src/cli/client/api-client.ts";

it("api client: what may have been done is not repeated blindly", () => {
  const failure = (code: string) => new ApiFailure("PATCH /x", 503, code, "No.");
  expect(judge(failure("unavailable")).retryable).toBe(true);
  expect(judge(failure("outcome_unknown")).retryable).toBe(false);
});
