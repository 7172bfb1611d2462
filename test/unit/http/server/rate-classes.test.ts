import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { DEFAULT_RATE_LIMITS, RateLimits } from "../../../../src/http/server/limits.ts";
import { defineRoute } from "../../../../src/rest/route.ts";
import { networkOf } from "../../../../src/wire/network.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

/** The burst that a caller of this route has. */
function burstOf(method: "get" | "post", path: string): number {
  const route = defineRoute({
    method,
    path,
    id: "one",
    tag: "Workspace",
    summary: "One",
    auth: [],
    responses: { 200: { description: "It.", schema: Type.Unknown() } },
    errors: [],
    handle: async () => ({ status: 200 }),
  });
  const rates = new RateLimits(DEFAULT_RATE_LIMITS, new ManualClock(0));
  return rates.caller(route, undefined, networkOf("192.0.2.1")).limit;
}

describe("rate classes", () => {
  it("counts a search through all words of a workspace as a query, not as a read", () => {
    const { query, read } = DEFAULT_RATE_LIMITS;
    expect(burstOf("get", "/workspaces/{id}/search")).toBe(query.burst);
    expect(burstOf("post", "/workspaces/{id}/agentic-query")).toBe(query.burst);
    expect(burstOf("get", "/workspaces/{id}")).toBe(read.burst);
  });
});
