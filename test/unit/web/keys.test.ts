import { describe, expect, it } from "vitest";
import { SCOPES as KNOWN } from "../../../src/access/principal.ts";
import { inDays, LIFETIMES, SCOPE_NAMES, statusOf } from "../../../src/web/views/keys/key-facts.ts";

const NOW = Date.parse("2026-03-01T10:00:00.000Z");

describe("API keys on the page", () => {
  it("scopes: the page offers every one that the service knows", () => {
    expect(SCOPE_NAMES).toEqual([...KNOWN]);
  });

  it("lifetime: ends so many days from now, and the longest is less than two years", () => {
    expect(inDays(30, NOW)).toBe("2026-03-31T10:00:00.000Z");
    for (const { id } of LIFETIMES) expect(id).toBeLessThan(730);
  });

  it("key: tells when it ends once that is soon", () => {
    const of = (status: "active" | "suspended" | "expired", days: number) =>
      statusOf({ status, expires_at: inDays(days, NOW) }, NOW);
    expect(of("active", 15)).toEqual({ label: "Active", tone: "good" });
    expect(of("active", 14)).toEqual({ label: "Ends in 14 days", tone: "warn" });
    expect(of("active", 0.5)).toEqual({ label: "Ends within a day", tone: "warn" });
    expect(of("suspended", 15).label).toBe("Suspended");
    expect(of("expired", -1).label).toBe("Expired");
  });
});
