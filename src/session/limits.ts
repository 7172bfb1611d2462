/**
 * Most sequences that may be missing in a row. Each becomes an event when its wait ends, so an
 * upload with a wrong count must be refused at once.
 */
export const MAX_MISSING = 3_600;

/** Highest sequence of a chunk; at half a second each, more than four days of one session. */
export const MAX_SEQUENCE = 999_999;

/** How long audio that may still come is awaited, milliseconds. */
export interface Patience {
  /** After the stop a device counts as gone after this time without a sign of life. */
  silence: number;
  /**
   * A device also counts as gone when its session got no chunk for this time; late chunks wait no
   * longer either.
   */
  chunk: number;
}

export const PATIENCE: Patience = { silence: 60_000, chunk: 300_000 };

/** Late chunks stop waiting after this many usual intervals without another one. */
const INTERVALS = 3;
/**
 * The shortest interval that is assumed, because chunks may be shorter than the time it takes to
 * send one; milliseconds.
 */
const SHORTEST_INTERVAL = 1_000;

/**
 * How long a late chunk waits for the next one, milliseconds.
 *
 * @param nominal usual length, samples at 16 kHz
 */
export function collectFor(nominal: number): number {
  return INTERVALS * Math.max(SHORTEST_INTERVAL, nominal / 16);
}
