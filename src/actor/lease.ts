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
  /** Writes this host's lease. False when another process has taken the name over. */
  beat(host: string, lease: HostLease): Promise<boolean>;
  /**
   * False when the host certainly has no connection to the store at this moment; true when it
   * has, or when nobody can tell. Answers within a fraction of a second, never throws.
   */
  isConnected(host: string): Promise<boolean>;
  /** Takes a partition if its record still has `revision` (0: none). False when somebody was faster. */
  take(partition: number, host: string, revision: number): Promise<boolean>;
  /** Frees a partition if this host still holds it. */
  free(partition: number, host: string): Promise<void>;
  /** This host is going away. */
  leave(host: string): Promise<void>;
}

export interface HostLease {
  counter: number;
  /** It is putting its partitions away and takes no more. */
  leaving: boolean;
}

export interface LeaseView {
  hosts: Map<string, HostLease>;
  /** Partition → holder (empty when freed) and revision. */
  partitions: Map<number, { holder: string; revision: number }>;
}
