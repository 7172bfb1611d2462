import type { HostLease, LeaseTable, LeaseView } from "../../../src/actor/lease.ts";

/** Leases in memory, for hosts of one process. */
export class MemoryLeaseTable implements LeaseTable {
  readonly #hosts = new Map<string, HostLease>();
  /** Hosts whose connection is gone. */
  readonly cut = new Set<string>();
  readonly #partitions = new Map<number, { holder: string; revision: number }>();
  #revision = 0;

  async read(): Promise<LeaseView> {
    return { hosts: new Map(this.#hosts), partitions: structuredClone(this.#partitions) };
  }

  async beat(host: string, lease: HostLease): Promise<boolean> {
    this.#hosts.set(host, lease);
    return true;
  }

  async isConnected(host: string): Promise<boolean> {
    return !this.cut.has(host);
  }

  async take(partition: number, host: string, revision: number): Promise<boolean> {
    if ((this.#partitions.get(partition)?.revision ?? 0) !== revision) return false;
    this.#revision += 1;
    this.#partitions.set(partition, { holder: host, revision: this.#revision });
    return true;
  }

  async free(partition: number, host: string): Promise<void> {
    if (this.#partitions.get(partition)?.holder !== host) return;
    this.#revision += 1;
    this.#partitions.set(partition, { holder: "", revision: this.#revision });
  }

  async leave(host: string): Promise<void> {
    this.#hosts.delete(host);
  }
}
