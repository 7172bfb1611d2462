/** The waits between tries of which each failed; they grow with every failure. */
interface BackOffWaits {
  /** Milliseconds after the first failure. */
  firstMs: number;
  /** The longest wait; absent where few tries bound it anyway. */
  mostMs?: number;
  /** By how much each wait is longer than the one before: twice when absent. */
  factor?: number;
  /** Up to so much is added by chance, so that many do not come back at the same moment. */
  spreadMs?: number;
}

/**
 * How long to wait after so many failures in a row, the first being 1, in milliseconds. Chance adds
 * to it only where `random` is given: a function from 0 to below 1, such as `Runtime.random`.
 */
export function backOff(failures: number, waits: BackOffWaits, random?: () => number): number {
  const { firstMs, mostMs = Number.POSITIVE_INFINITY, factor = 2, spreadMs = 0 } = waits;
  const wait = Math.min(mostMs, firstMs * factor ** (failures - 1));
  return random === undefined ? wait : wait + random() * spreadMs;
}
