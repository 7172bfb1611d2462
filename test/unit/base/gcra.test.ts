import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Gcra, Pace } from "../../../src/base/gcra.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("gcra: limits", () => {
  it("never lets more through in any span than burst + rate * span, and never less than asked for", () => {
    const arrivals = fc.array(fc.nat({ max: 3000 }), { minLength: 1, maxLength: 120 });
    const limits = fc.record({
      perMinute: fc.integer({ min: 1, max: 6000 }),
      burst: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(limits, arrivals, (limit, gaps) => {
        const clock = new ManualClock(0);
        const gcra = new Gcra(limit, clock);
        const admitted: number[] = [];
        for (const gap of gaps) {
          clock.advance(gap);
          const verdict = gcra.take("k");
          if (verdict.allowed) admitted.push(clock.now());
          expect(verdict.remaining).toBeLessThan(limit.burst + 1);
          expect(verdict.retryAfterSeconds > 0).toBe(!verdict.allowed);
        }
        const rate = limit.perMinute / 60_000;
        for (const [first, from] of admitted.entries()) {
          for (const [last, to] of admitted.entries()) {
            if (last < first) continue;
            expect(last - first + 1).toBeLessThanOrEqual(limit.burst + rate * (to - from) + 1e-6);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("equals a bucket of tokens", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 500 }), { maxLength: 300 }), (gaps) => {
        const limit = { perMinute: 600, burst: 5 };
        const clock = new ManualClock(0);
        const gcra = new Gcra(limit, clock);
        let tokens = 5;
        for (const gap of gaps) {
          clock.advance(gap);
          tokens = Math.min(5, tokens + gap / 100);
          const expected = tokens >= 1 - 1e-9;
          if (expected) tokens -= 1;
          expect(gcra.take("k").allowed).toBe(expected);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("paces one alone as it paces many", () => {
    const limits = fc.record({
      perMinute: fc.integer({ min: 1, max: 6000 }),
      burst: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(limits, fc.array(fc.nat({ max: 3000 }), { maxLength: 200 }), (limit, gaps) => {
        const clock = new ManualClock(0);
        const [gcra, pace, pacing] = [
          new Gcra(limit, clock),
          new Pace(limit, clock),
          { arrival: 0 },
        ];
        for (const gap of gaps) {
          clock.advance(gap);
          expect(pace.take(pacing)).toBe(gcra.take("k").allowed);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("takes a request again after the wait that it told of", () => {
    const clock = new ManualClock(0);
    const gcra = new Gcra({ perMinute: 7, burst: 3 }, clock);
    for (let request = 0; request < 3; request += 1) expect(gcra.take("k").allowed).toBe(true);
    const refused = gcra.take("k");
    expect(refused).toMatchObject({ allowed: false, limit: 3, remaining: 0 });
    clock.advance(refused.retryAfterSeconds * 1000);
    expect(gcra.take("k").allowed).toBe(true);
  });

  it("keeps keys apart and forgets the least recent beyond its bound", () => {
    const gcra = new Gcra({ perMinute: 1, burst: 1 }, new ManualClock(0), 3);
    for (const key of ["a", "b", "c"]) expect(gcra.take(key).allowed).toBe(true);
    expect(gcra.take("a").allowed).toBe(false);
    gcra.take("d");
    expect(gcra.size).toBe(3);
    expect(gcra.take("a").allowed).toBe(false);
  });
});
