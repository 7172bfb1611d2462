import { describe, expect, it } from "vitest";
import { RecordClock } from "../../../src/actor/journal.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("record clock", () => {
  it("record clock: it is never ahead of the record, however slow an answer was", () => {
    const host = new ManualClock(5_000);
    const clock = new RecordClock(host);
    // Asked at 5,000; the record read its time at once, and its answer took 400 ms.
    host.advance(400);
    clock.heard(1_000_000, 5_000);
    expect(clock.now()).toBe(1_000_000);
    // A quick answer corrects it.
    host.advance(100);
    clock.heard(1_000_500, 5_490);
    expect(clock.now()).toBe(1_000_500);
    // A slow one later does not set it back.
    host.advance(1_000);
    clock.heard(1_000_600, 5_500);
    expect(clock.now()).toBe(1_001_500);
  });

  it("record clock: a record whose time is another from now on is followed, either way", () => {
    const host = new ManualClock(0);
    const clock = new RecordClock(host);
    clock.heard(1_000_000, 0);
    host.advance(10);
    clock.heard(900_000, 5);
    expect(clock.now()).toBe(900_005);
    host.advance(10);
    clock.heard(2_000_000, 15);
    expect(clock.now()).toBe(2_000_000);
  });
});
