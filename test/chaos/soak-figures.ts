import { median } from "../bench/statistics.ts";

/** One look at everything, by name. */
export interface Sample {
  /** Minutes since the first one. */
  readonly at: number;
  readonly figures: Readonly<Record<string, number>>;
}

/** How much a figure may grow over the whole run and still be called level. */
export interface Bound {
  /** Of its mean. */
  readonly share: number;
  /** In its own unit: whichever of the two is more. */
  readonly least: number;
}

export interface Trend {
  readonly name: string;
  /** Medians of the three thirds of the whole time, the first quarter included. */
  readonly thirds: readonly number[];
  readonly mean: number;
  /** Per hour. */
  readonly slope: number;
  /** What the slope makes of the time that was looked at. */
  readonly growth: number;
  /** Undefined for what grows by design, and for what is only shown. */
  readonly bound: number | undefined;
}

export type Level = "level" | "grows" | "shown";

/** Of all samples: in it caches fill and the first sessions begin. */
const WARM_UP = 0.25;
/** Fewer samples, or a shorter time, prove nothing. */
const FEWEST_SAMPLES = 8;
const SHORTEST_MINUTES = 15;

/** After the warm-up. */
function settledOf(samples: readonly Sample[]): Sample[] {
  return samples.slice(Math.floor(samples.length * WARM_UP));
}

/** Why they prove nothing; undefined when they do. */
export function tooShort(samples: readonly Sample[]): string | undefined {
  const settled = settledOf(samples);
  const minutes = (settled.at(-1)?.at ?? 0) - (settled[0]?.at ?? 0);
  if (settled.length >= FEWEST_SAMPLES && minutes >= SHORTEST_MINUTES) return undefined;
  return `${settled.length} samples over ${minutes.toFixed(1)} min after the first quarter; ${FEWEST_SAMPLES} over ${SHORTEST_MINUTES} min are needed`;
}

export function trendsOf(
  samples: readonly Sample[],
  boundOf: (name: string) => Bound | undefined,
): Trend[] {
  const settled = settledOf(samples);
  const names = new Set(settled.flatMap(({ figures }) => Object.keys(figures)));
  return [...names].map((name) => {
    const points = settled.flatMap(({ at, figures }): [number, number][] => {
      const value = figures[name];
      return value === undefined || !Number.isFinite(value) ? [] : [[at / 60, value]];
    });
    const values = points.map(([, value]) => value);
    const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    const slope = slopeOf(points);
    const hours = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0);
    const bound = boundOf(name);
    return {
      name,
      thirds: thirdsOf(samples, name),
      mean,
      slope,
      growth: slope * hours,
      bound: bound === undefined ? undefined : Math.max(bound.least, bound.share * mean),
    };
  });
}

function thirdsOf(samples: readonly Sample[], name: string): number[] {
  const length = (samples.at(-1)?.at ?? 0) / 3;
  return [1, 2, 3].map((third) => {
    const isWithin = ({ at }: Sample) => at > length * (third - 1) && at <= length * third;
    const values = samples.filter(isWithin).map(({ figures }) => figures[name] ?? Number.NaN);
    return median(values.filter(Number.isFinite));
  });
}

/**
 * The median of the slopes between any two points (Theil and Sen): single minutes in which the
 * machine had other things to do do not tilt it. 0 for fewer than two.
 */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], n) =>
    points.slice(n + 1).flatMap(([toX, toY]) => (toX === x ? [] : [(toY - y) / (toX - x)])),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}

export function levelOf({ growth, bound }: Trend): Level {
  if (bound === undefined) return "shown";
  return growth <= bound ? "level" : "grows";
}

/** A table for people. */
export function tableOf(trends: readonly Trend[]): string[] {
  const head = ["figure", "1st third", "2nd", "3rd", "mean", "slope/h", "growth", "bound", ""];
  const rows = trends.map((trend) => [
    trend.name,
    ...[...trend.thirds, trend.mean, trend.slope, trend.growth].map(short),
    trend.bound === undefined ? "" : short(trend.bound),
    levelOf(trend),
  ]);
  const widths = head.map((_, n) => Math.max(...[head, ...rows].map((row) => row[n]?.length ?? 0)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

function short(value: number): string {
  if (!Number.isFinite(value)) return "-";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}
