/**
 * Port: who is alive and who holds which partition, for one host.
 *
 * A host's lease is one record with a counter that it raises; a partition's
 * record names its holder. A taker must itself have seen no new counter for the
 * lease time on its own monotonic clock. The lease keeps two owners rare; the
 * journal's epoch keeps them harmless.
 */
export interface LeaseTable {
  /** Writes this host's lease and tells how everything stands. Throws `unavailable`. */
  look(lease: HostLease): Promise<LeaseView>;
  /** Takes partitions whose record still has its revision; returns those. */
  take(wanted: readonly PartitionRevision[]): Promise<number[]>;
  /** Whether this host's name stands at the partition now. */
  holds(partition: number): Promise<boolean>;
  /** Frees those of the partitions that this host holds. */
  free(partitions: readonly number[]): Promise<void>;
  /** Forgets hosts: this one as it goes, or others that hold nothing any more. */
  forget(hosts: readonly string[]): Promise<void>;
}

export interface HostLease {
  counter: number;
  /** It is putting its partitions away and takes no more. */
  leaving: boolean;
}

export interface PartitionRevision {
  partition: number;
  /** Another one after each change of the holder. */
  revision: number;
}

export interface LeaseView {
  /** `isConnected` is false when the host certainly has no connection to the record any more. */
  hosts: Map<string, HostLease & { isConnected: boolean }>;
  /** Partition → holder (empty when freed) and revision; the same map as long as nothing changed. */
  partitions: ReadonlyMap<number, { holder: string; revision: number }>;
}
