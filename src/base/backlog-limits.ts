/** How much of what is left to do one look takes in, and how often a command may fail. */

/** Partitions. */
export const PARTITIONS_PAGE = 64;
/** Sessions with work, of each partition. */
export const OPEN_WORK_PAGE = 32;
/** Sessions to which commands wait, of each partition. */
export const QUEUES_PAGE = 8;
/** Commands to one session. */
export const QUEUE_HEAD = 64;
/** Failed deliveries after which a command is parked: some nine minutes. */
export const MOST_ATTEMPTS = 10;
