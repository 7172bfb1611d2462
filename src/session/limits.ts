/**
 * How many sequences may be missing in a row. Each becomes an event when its
 * wait ends, so a device that counts wrong must be told before, not after.
 */
export const MAX_MISSING = 3_600;

/** Half a second each, that is more than four days of one session. */
export const MAX_SEQUENCE = 999_999;

/** How long what may still come is waited for, milliseconds. */
export interface Patience {
  /** After the stop a device counts as gone that was not heard for so long. */
  silence: number;
  /** And so does one whose session got no chunk for so long; late chunks wait no longer either. */
  chunk: number;
}

export const PATIENCE: Patience = { silence: 60_000, chunk: 300_000 };

/** After how many usual intervals without another late chunk none is waited for. */
const INTERVALS = 3;
/** Chunks may be shorter than what it takes to send one, milliseconds. */
const SHORTEST_INTERVAL = 1_000;

/** How long a late chunk waits for the next one. @param nominal usual length, samples at 16 kHz */
export function collectFor(nominal: number): number {
  return INTERVALS * Math.max(SHORTEST_INTERVAL, nominal / 16);
}
