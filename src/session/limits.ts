/**
 * How many sequences may be missing in a row. Each becomes an event when its
 * wait ends, so a device that counts wrong must be told before, not after.
 */
export const MAX_MISSING = 3_600;
