import { describe, expect, it } from "vitest";
import { Places } from "../../../src/base/places.ts";

function open(capacity = 10) {
  return new Places<"caller" | "network">({
    what: "things",
    capacity,
    shares: { caller: 2, network: 3 },
  });
}

describe("places", () => {
  it("refuses beyond the capacity with 503, and beyond a share with 429", () => {
    const places = open(2);
    const place = places.enter();
    places.enter();
    expect(() => places.enter()).toThrow(expect.objectContaining({ code: "overloaded" }));
    expect(places.queues[0]?.refused).toBe(1);
    place.leave();
    expect(places.enter()).toBeDefined();
    const other = open();
    other.enter().claim("caller", "a");
    other.enter().claim("caller", "a");
    const third = other.enter();
    expect(() => third.claim("caller", "a")).toThrow(
      expect.objectContaining({ code: "rate_limited" }),
    );
    third.claim("caller", "b");
    expect(other.queues).toEqual([{ queue: "things", length: 3, limit: 10, refused: 0 }]);
  });

  it("gives back to every holder, once", () => {
    const places = open();
    const place = places.enter();
    place.claim("caller", "a");
    place.claim("network", "n");
    place.claim("network", undefined);
    place.leave();
    place.leave();
    expect(places.taken).toBe(0);
    for (let round = 0; round < 2; round += 1) places.enter().claim("caller", "a");
    for (let round = 0; round < 3; round += 1) places.enter().claim("network", "n");
  });

  it("counts a claim that was refused for nobody", () => {
    const places = open();
    for (let round = 0; round < 2; round += 1) places.enter().claim("caller", "a");
    const third = places.enter();
    third.claim("network", "n");
    expect(() => third.claim("caller", "a")).toThrow();
    third.leave();
    expect(places.taken).toBe(2);
    for (let round = 0; round < 3; round += 1) places.enter().claim("network", "n");
  });

  it("counts amounts, such as bytes", () => {
    const places = new Places({ what: "bytes", capacity: 100, shares: { caller: 50 } });
    places.enter(40).claim("caller", "a");
    expect(() => places.enter(20).claim("caller", "a")).toThrow(/too many bytes/);
    places.enter(40).claim("caller", "b");
    expect(() => places.enter(20)).toThrow(/Too many bytes/);
  });
});
