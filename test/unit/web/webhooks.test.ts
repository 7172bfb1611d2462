import { describe, expect, it } from "vitest";
import { WEBHOOK_EVENT_TYPES } from "../../../src/session/webhook-event.ts";
import {
  deliveryStatusOf,
  EVENT_NAMES,
  eventsOf,
  outcomeOf,
  statusOf,
} from "../../../src/web/views/webhooks/webhook-facts.ts";

describe("webhooks on the page", () => {
  it("events: the page offers every one that the service sends", () => {
    expect(EVENT_NAMES).toEqual([...WEBHOOK_EVENT_TYPES]);
  });

  it("events: none chosen means everything, many are cut", () => {
    expect(eventsOf([])).toBe("everything");
    expect(eventsOf(["session.started", "session.stopped"])).toBe(
      "session.started, session.stopped",
    );
    expect(eventsOf(["session.started", "session.stopped", "session.failed"], 2)).toBe(
      "session.started, session.stopped and 1 more",
    );
  });

  it("webhook: who switched it off and why is told apart", () => {
    const on = { enabled: true, suspended: false, consecutive_failures: 0 };
    expect(statusOf(on)).toEqual({ label: "On", tone: "good" });
    expect(statusOf({ ...on, enabled: false })).toEqual({ label: "Off", tone: undefined });
    expect(statusOf({ ...on, enabled: false, disabled_reason: "gone" }).why).toContain("410");
    expect(statusOf({ ...on, enabled: false, disabled_reason: "failing" }).why).toContain("5 d");
    expect(statusOf({ ...on, suspended: true, consecutive_failures: 2 }).label).toBe("Suspended");
    expect(statusOf({ ...on, consecutive_failures: 2 }).why).toContain("last 2 attempts");
  });

  it("attempt: says what was answered, or why nothing was", () => {
    const at = "2026-03-01T10:00:00.000Z";
    expect(outcomeOf({ at, status_code: 204, duration_ms: 12 })).toBe("204 in 12 ms");
    expect(outcomeOf({ at, status_code: 503, error: "http_error", duration_ms: 9 })).toBe(
      "503: the answer was no 2xx",
    );
    expect(outcomeOf({ at, error: "connection_refused" })).toBe("nobody listens there");
  });

  it("message: one of a suspended webhook waits", () => {
    expect(deliveryStatusOf({ status: "pending" }).label).toBe("Under way");
    expect(deliveryStatusOf({ status: "pending", suspended: true }).label).toBe("Waits");
    expect(deliveryStatusOf({ status: "failed" }).tone).toBe("danger");
  });
});
