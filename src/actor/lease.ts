/**
 * Port: who is alive and who holds which partition.
 *
 * A host's lease is one record with a counter that it raises; a partition's
 * record names its holder. A taker must itself have seen no new counter for the
 * lease time on its own monotonic clock. The lease keeps two owners rare; the
 * journal's epoch keeps them harmless.
 */
export interface LeaseTable {
  /** Everything known now. Throws `unavailable` when the store cannot be reached. */
  read(): Promise<LeaseView>;
  /** Raises this host's counter. False when another process has taken the name over. */
  beat(host: string, counter: number): Promise<boolean>;
  /** Takes a partition if its record still has `revision` (0: none). False when somebody was faster. */
  take(partition: number, host: string, revision: number): Promise<boolean>;
  /** Frees a partition if this host still holds it. */
  free(partition: number, host: string): Promise<void>;
  /** This host is going away. */
  leave(host: string): Promise<void>;
}

export interface LeaseView {
  /** Host → counter. */
  hosts: Map<string, number>;
  /** Partition → holder (empty when freed) and revision. */
  partitions: Map<number, { holder: string; revision: number }>;
}
