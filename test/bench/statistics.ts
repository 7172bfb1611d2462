/** The value below which the share `q` of the values lies; NaN of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const place = Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1));
  return sorted[place] ?? Number.NaN;
}

/** Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/**
 * The exponent of growth: the slope of the least-squares line through the
 * logarithms. Cost proportional to the work has 1, constant cost 0.
 */
export function growthExponent(points: readonly { work: number; cost: number }[]): number {
  const logs = points.map(({ work, cost }) => ({ x: Math.log(work), y: Math.log(cost) }));
  const mean = (pick: (point: { x: number; y: number }) => number) =>
    logs.reduce((sum, point) => sum + pick(point), 0) / logs.length;
  const x = mean((point) => point.x);
  const y = mean((point) => point.y);
  const above = logs.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  const below = logs.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return above / below;
}
