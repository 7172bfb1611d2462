/**
 * How many sequences may be missing in a row. Each becomes an event when its
 * wait ends, so a device that counts wrong must be told before, not after.
 */
export const MAX_MISSING = 3_600;

/** Half a second each, that is more than four days of one session. */
export const MAX_SEQUENCE = 999_999;
