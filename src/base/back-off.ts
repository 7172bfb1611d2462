/** Waits between failed attempts; they grow with every failure. */
export interface BackOffWaits {
  /** Wait after the first failure, milliseconds. */
  firstMs: number;
  /** The longest wait, milliseconds; absent where the number of attempts is small. */
  mostMs?: number;
  /** Factor between consecutive waits; 2 when absent. */
  factor?: number;
  /** Largest random addition, milliseconds, so that many callers do not retry at the same time. */
  spreadMs?: number;
}

/**
 * The wait after this many consecutive failures, from 1, in milliseconds. A random part is added
 * only if `random` is given: a function from 0 to below 1, such as `Runtime.random`.
 */
export function backOff(failures: number, waits: BackOffWaits, random?: () => number): number {
  const { firstMs, mostMs = Number.POSITIVE_INFINITY, factor = 2, spreadMs = 0 } = waits;
  const wait = Math.min(mostMs, firstMs * factor ** (failures - 1));
  return random === undefined ? wait : wait + random() * spreadMs;
}
