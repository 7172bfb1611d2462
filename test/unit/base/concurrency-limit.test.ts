import { describe, expect, it } from "vitest";
import { ConcurrencyLimit } from "../../../src/base/concurrency-limit.ts";

function open(capacity = 10) {
  return new ConcurrencyLimit<"caller" | "network">({
    what: "things",
    capacity,
    shares: { caller: 2, network: 3 },
  });
}

describe("slots", () => {
  it("refuses beyond the capacity with 503, and beyond a share with 429", () => {
    const slots = open(2);
    const slot = slots.acquire();
    slots.acquire();
    expect(() => slots.acquire()).toThrow(expect.objectContaining({ code: "overloaded" }));
    expect(slots.queues[0]?.refused).toBe(1);
    slot.release();
    expect(slots.acquire()).toBeDefined();
    const other = open();
    other.acquire().claim("caller", "a");
    other.acquire().claim("caller", "a");
    const third = other.acquire();
    expect(() => third.claim("caller", "a")).toThrow(
      expect.objectContaining({ code: "rate_limited" }),
    );
    third.claim("caller", "b");
    expect(other.queues).toEqual([{ queue: "things", length: 3, limit: 10, refused: 0 }]);
  });

  it("gives back to every holder, once", () => {
    const slots = open();
    const slot = slots.acquire();
    slot.claim("caller", "a");
    slot.claim("network", "n");
    slot.claim("network", undefined);
    slot.release();
    slot.release();
    expect(slots.taken).toBe(0);
    for (let round = 0; round < 2; round += 1) slots.acquire().claim("caller", "a");
    for (let round = 0; round < 3; round += 1) slots.acquire().claim("network", "n");
  });

  it("counts a claim that was refused for nobody", () => {
    const slots = open();
    for (let round = 0; round < 2; round += 1) slots.acquire().claim("caller", "a");
    const third = slots.acquire();
    third.claim("network", "n");
    expect(() => third.claim("caller", "a")).toThrow();
    third.release();
    expect(slots.taken).toBe(2);
    for (let round = 0; round < 3; round += 1) slots.acquire().claim("network", "n");
  });

  it("counts amounts, such as bytes", () => {
    const slots = new ConcurrencyLimit({ what: "bytes", capacity: 100, shares: { caller: 50 } });
    slots.acquire(40).claim("caller", "a");
    expect(() => slots.acquire(20).claim("caller", "a")).toThrow(/too many bytes/);
    slots.acquire(40).claim("caller", "b");
    expect(() => slots.acquire(20)).toThrow(/Too many bytes/);
  });
});
