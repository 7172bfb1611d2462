import type { HostLease, LeaseTable, LeaseView } from "../../../src/actor/lease.ts";
import { PARTITIONS } from "../../../src/base/partition.ts";

/** Leases in memory, for hosts of one process. */
export class MemoryLeases {
  readonly hosts = new Map<string, HostLease>();
  /** Hosts whose connection is gone. */
  readonly cut = new Set<string>();
  readonly partitions = new Map<number, Readonly<{ holder: string; revision: number }>>(
    Array.from({ length: PARTITIONS }, (_, n) => [n, { holder: "", revision: 1 }]),
  );

  #seen: LeaseView["partitions"] | undefined;

  /** As one host has them. */
  of(host: string): LeaseTable {
    const { hosts, cut, partitions } = this;
    const change = (partition: number, holder: string): void => {
      const revision = (partitions.get(partition)?.revision ?? 0) + 1;
      partitions.set(partition, { holder, revision });
      this.#seen = undefined;
    };
    const holds = (partition: number): boolean => partitions.get(partition)?.holder === host;
    return {
      poll: async (lease): Promise<LeaseView> => {
        hosts.set(host, lease);
        const all = [...hosts].map(([name, each]) => {
          return [name, { ...each, isConnected: !cut.has(name) }] as const;
        });
        this.#seen ??= new Map(partitions);
        return { hosts: new Map(all), partitions: this.#seen };
      },
      take: async (wanted) => {
        const free = wanted.filter(
          ({ partition, revision }) => partitions.get(partition)?.revision === revision,
        );
        for (const { partition } of free) change(partition, host);
        return free.map(({ partition }) => partition);
      },
      holds: async (partition) => holds(partition),
      free: async (freed) => {
        for (const partition of freed) if (holds(partition)) change(partition, "");
      },
      forget: async (names) => {
        for (const name of names) hosts.delete(name);
      },
    };
  }
}
