/** Limits of one look at unfinished work, and of a command's failures. */

/** Partitions per look. */
export const PARTITIONS_PAGE = 64;
/** Sessions with open work, per partition. */
export const OPEN_WORK_PAGE = 32;
/** Sessions with waiting commands, per partition. */
export const QUEUES_PAGE = 8;
/** Waiting commands per session. */
export const QUEUE_HEAD = 64;
/** Failed deliveries after which a command is parked; reached after about nine minutes. */
export const MOST_ATTEMPTS = 10;
