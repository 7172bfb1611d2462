import { describe, expect, it } from "vitest";
import { boundOf } from "../../chaos/soak-bounds.ts";
import {
  levelOf,
  type Sample,
  slopeOf,
  tableOf,
  tooShort,
  trendsOf,
} from "../../chaos/soak-figures.ts";

/** One sample a minute. */
function samplesOf(name: string, values: readonly number[]): Sample[] {
  return values.map((value, at) => ({ at, figures: { [name]: value } }));
}

const minutes = Array.from({ length: 60 }, (_, n) => n);

function verdictOn(name: string, values: readonly number[]): string {
  const [trend] = trendsOf(samplesOf(name, values), boundOf);
  return trend === undefined ? "nothing" : levelOf(trend);
}

describe("soak: what is level", () => {
  it("soak: a line's slope is found among noise", () => {
    const points = minutes.map((n) => [n / 60, 100 + 60 * (n / 60) + (n % 2)] as const);
    expect(slopeOf(points)).toBeCloseTo(60, 0);
    expect(slopeOf([[1, 5]])).toBe(0);
    // One minute in which all was slow is no trend.
    expect(slopeOf([...points, [0.95, 40_000]])).toBeCloseTo(60, 0);
  });

  it("soak: a leak is told, a figure that swings is not", () => {
    const leak = minutes.map((n) => 200 + n);
    const swing = minutes.map((n) => 200 + 30 * Math.sin(n));
    expect(verdictOn("main MiB", leak)).toBe("grows");
    expect(verdictOn("main MiB", swing)).toBe("level");
  });

  it("soak: what fills up in the first quarter is no leak", () => {
    const filling = minutes.map((n) => (n < 15 ? 100 + 10 * n : 250));
    expect(verdictOn("main MiB", filling)).toBe("level");
  });

  it("soak: rows that are kept are shown, what a row costs is judged", () => {
    const rising = minutes.map((n) => 1_000 + 100 * n);
    expect(verdictOn("events rows", rising)).toBe("shown");
    expect(verdictOn("events bytes/row", rising)).toBe("grows");
  });

  it("soak: a short run is no proof", () => {
    const whole = samplesOf("main MiB", minutes);
    expect(tooShort(whole)).toBeUndefined();
    expect(tooShort(whole.slice(0, 12))).toContain("8 over 15 min are needed");
    const hasty = whole.map((sample) => ({ ...sample, at: sample.at / 10 }));
    expect(tooShort(hasty)).toContain("4.4 min");
  });

  it("soak: the thirds of the time are shown by their medians", () => {
    const samples = minutes.map((n): Sample => {
      const value = n % 10 === 0 ? 9_000 : Math.floor(n / 20);
      return { at: n + 1, figures: { "main MiB": value } };
    });
    const [trend] = trendsOf(samples, boundOf);
    expect(trend?.thirds).toEqual([0, 1, 2]);
  });

  it("soak: a figure that is missing now and then has a trend all the same", () => {
    const samples = minutes.map((at): Sample => {
      return at % 3 === 0 ? { at, figures: { "main fds": 50 } } : { at, figures: {} };
    });
    const [trend] = trendsOf(samples, boundOf);
    expect(trend).toMatchObject({ thirds: [50, 50, 50], growth: 0 });
    expect(tableOf(trend === undefined ? [] : [trend])[1]).toMatch(/^main fds .* level$/);
  });
});
