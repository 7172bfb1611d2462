/**
 * Most bytes of a compressed file that are read at once, in a thread of this process: six of those
 * may be read at the same time. A larger one is decoded by a process of its own, with its own limits.
 */
export const MOST_READ_BYTES = 256 * 1024 * 1024;
