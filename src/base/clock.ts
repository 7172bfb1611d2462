/** Time; tests replace it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds, for durations and leases only. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** RFC 3339 in UTC with milliseconds. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
