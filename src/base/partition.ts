/** Number of partitions. A session's id determines its partition; hosts own partitions by lease. */
export const PARTITIONS = 1_024;

/** The partition of a session: the last ten bits of its id, as `partition_of` in the database. */
export function partitionOf(sessionId: string): number {
  return Number.parseInt(sessionId.slice(-3), 16) % PARTITIONS;
}
