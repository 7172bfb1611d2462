import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BodyClock, DEFAULT_BODY_PACE } from "../../../../src/http/server/body-clock.ts";

const { firstByteMs, graceMs, bytesPerSecond, heldMs } = DEFAULT_BODY_PACE;
const TOTAL_MS = 900_000;

let late: unknown[];

function begin(totalMs = TOTAL_MS): BodyClock {
  return new BodyClock(DEFAULT_BODY_PACE, totalMs, (error) => late.push(error));
}

/** Sends `bytes` every `everyMs` for so long; returns when the body was late, if it was. */
function send(clock: BodyClock, bytes: number, everyMs: number, forMs: number): number | undefined {
  for (let at = 0; at < forMs; at += everyMs) {
    clock.came(bytes);
    vi.advanceTimersByTime(everyMs);
    if (late.length > 0) return at + everyMs;
  }
  return undefined;
}

beforeEach(() => {
  late = [];
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("body clock", () => {
  it("waits a few seconds for the first byte", () => {
    begin();
    vi.advanceTimersByTime(firstByteMs - 1);
    expect(late).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(late).toMatchObject([{ code: "body_timeout", status: 408 }]);
  });

  it("takes half a minute of sound, 960 kB, over an uplink of 2 kB a second", () => {
    const clock = begin();
    expect(send(clock, 400, 200, 480_000)).toBeUndefined();
    clock.stop();
    vi.advanceTimersByTime(TOTAL_MS);
    expect(late).toEqual([]);
  });

  it("takes an uplink that stands still now and then", () => {
    const clock = begin();
    for (let round = 0; round < 20; round += 1) {
      clock.came(30_000);
      vi.advanceTimersByTime(graceMs - 1);
    }
    expect(late).toEqual([]);
  });

  it("ends a body that dribbles, soon after its first byte", () => {
    expect(send(begin(), 1, 4_000, 60_000)).toBeLessThanOrEqual(graceMs + 4_000);
  });

  it("ends a body that sends much at first and then dribbles", () => {
    const clock = begin();
    clock.came(50_000_000);
    expect(send(clock, 1, 1_000, 60_000)).toBeLessThanOrEqual(graceMs + 2_000);
  });

  it("ends one that comes at less than the rate for long, and one that is longer than it may", () => {
    expect(send(begin(), bytesPerSecond / 2, 1_000, 120_000)).toBeLessThanOrEqual(3 * graceMs);
    late = [];
    expect(send(begin(30_000), 100_000, 1_000, 120_000)).toBe(30_000);
  });

  it("ends one that we take nothing of, or do not finish with, as unavailable", () => {
    for (const stop of ["hold", "whole"] as const) {
      late = [];
      const clock = begin();
      clock.came(1_000);
      clock[stop]();
      vi.advanceTimersByTime(heldMs - 1);
      expect(late).toEqual([]);
      vi.advanceTimersByTime(graceMs + 1);
      expect(late).toMatchObject([{ code: "unavailable", status: 503 }]);
    }
  });

  it("does not count the time in which we read nothing", () => {
    const clock = begin();
    clock.came(1_000);
    clock.hold();
    vi.advanceTimersByTime(heldMs - 1);
    clock.go();
    vi.advanceTimersByTime(graceMs - 1);
    expect(late).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(late).toHaveLength(1);
  });
});
