/**
 * Port: shows one host which hosts are alive and which host holds each partition.
 *
 * A host's lease is one record with a counter that it raises; a partition's record names its
 * holder. A host may take a partition only when it has itself seen no new counter of the holder for
 * the lease time, on its own monotonic clock. The lease makes two owners rare; the journal's epoch
 * makes them harmless.
 */
export interface LeaseTable {
  /** Writes this host's lease and reads all leases and partitions. Throws `unavailable`. */
  poll(lease: HostLease): Promise<LeaseView>;
  /** Takes those partitions whose revision has not changed, and returns them. */
  take(wanted: readonly PartitionRevision[]): Promise<number[]>;
  /** Whether this host holds the partition now. */
  holds(partition: number): Promise<boolean>;
  /** Frees those of the partitions that this host holds. */
  free(partitions: readonly number[]): Promise<void>;
  /**
   * Deletes the leases of hosts: of this one when it stops, or of others that hold nothing any
   * more.
   */
  forget(hosts: readonly string[]): Promise<void>;
}

export interface HostLease {
  counter: number;
  /** The host is giving up its partitions and takes no more. */
  leaving: boolean;
}

export interface PartitionRevision {
  partition: number;
  /** Changes with each change of the holder. */
  revision: number;
}

export interface LeaseView {
  /** `isConnected` is false when the host certainly has no connection to the record any more. */
  hosts: Map<string, HostLease & { isConnected: boolean }>;
  /** Partition → holder (empty when freed) and revision; the same map as long as nothing changed. */
  partitions: ReadonlyMap<number, { holder: string; revision: number }>;
}
