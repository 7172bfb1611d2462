import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { LeaseTable } from "../../src/actor/lease.ts";
import { PartitionOwner } from "../../src/actor/partition-owner.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { PostgresLeaseTable } from "../../src/postgres/lease-store.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { MemoryLeases } from "../support/memory/memory-leases.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";

/** Leases of hosts that see one another, and how to end the connection of one of them. */
interface Leases {
  of(host: string): Promise<LeaseTable>;
  cut(host: string): Promise<void>;
}

const LEASE = { counter: 1, leaving: false };

function leaseContract(name: string, create: () => Promise<Leases>): void {
  describe(`lease table: ${name}`, () => {
    let leases: Leases;
    beforeEach(async () => {
      leases = await create();
    });

    const three = () => Promise.all(["a", "b", "c"].map((host) => leases.of(host)));

    it("lease: a host is seen with its counter until it is forgotten", async () => {
      const [a, b] = (await three()) as [LeaseTable, LeaseTable];
      await a.poll(LEASE);
      await a.poll({ counter: 2, leaving: true });
      const seen = async () => (await b.poll(LEASE)).hosts.get("a");
      expect(await seen()).toEqual({ counter: 2, leaving: true, isConnected: true });
      await a.forget(["a"]);
      expect(await seen()).toBeUndefined();
    });

    it("lease: a host whose connection has ended is seen without one", async () => {
      const [a, b] = (await three()) as [LeaseTable, LeaseTable];
      await a.poll(LEASE);
      await leases.cut("a");
      const isConnected = async () => (await b.poll(LEASE)).hosts.get("a")?.isConnected;
      await until(async () => (await isConnected()) === false, "the end of the connection");
    });

    it("lease: of several takers of one revision exactly one wins, and all see who", async () => {
      const tables = await three();
      const [first] = tables as [LeaseTable];
      for (let round = 0; round < 5; round += 1) {
        const record = async () => (await first.poll(LEASE)).partitions.get(3);
        const revision = (await record())?.revision ?? 0;
        const taken = await Promise.all(
          tables.map((table) => table.take([{ partition: 3, revision }])),
        );
        expect(taken.flat()).toEqual([3]);
        const winner = taken.findIndex(({ length }) => length > 0);
        expect((await record())?.holder).toBe(["a", "b", "c"][winner]);
        const held = await Promise.all(tables.map((table) => table.holds(3)));
        expect(held.findIndex(Boolean)).toBe(winner);
      }
    });

    it("lease: takers of many at once take each of them once, and wait for nobody", async () => {
      const tables = await three();
      const [first] = tables as [LeaseTable];
      const { partitions } = await first.poll(LEASE);
      const all = [...partitions].map(([partition, { revision }]) => ({ partition, revision }));
      const orders = [
        all,
        all.toReversed(),
        all.toSorted((a, b) => (a.partition % 7) - (b.partition % 7)),
      ];
      const taken = await Promise.all(tables.map((table, n) => table.take(orders[n] ?? [])));
      expect(taken.flat().sort((a, b) => a - b)).toEqual(all.map(({ partition }) => partition));
    });

    it("lease: only the holder frees a partition", async () => {
      const [a, b] = (await three()) as [LeaseTable, LeaseTable];
      const record = async () => (await b.poll(LEASE)).partitions.get(5);
      await a.take([{ partition: 5, revision: (await record())?.revision ?? 0 }]);
      await b.free([5, 6]);
      expect((await record())?.holder).toBe("a");
      await a.free([5, 6]);
      expect((await record())?.holder).toBe("");
    });

    it("lease: hosts share all partitions, and one that leaves loses its share", async () => {
      const owned = new Map<string, Set<number>>();
      const owner = async (host: string): Promise<PartitionOwner> => {
        const mine = new Set<number>();
        owned.set(host, mine);
        const forget = (partitions: readonly number[]): void => {
          for (const partition of partitions) mine.delete(partition);
        };
        return new PartitionOwner({
          host,
          table: await leases.of(host),
          runtime: systemRuntime,
          log: silentLog,
          leaseTime: 400,
          onTaken: (partitions) => {
            for (const partition of partitions) mine.add(partition);
          },
          onReleased: async (partitions) => forget(partitions),
          onLost: async (partitions) => forget(partitions),
        });
      };
      const sizes = () => [...owned.values()].map(({ size }) => size);
      const hosts: PartitionOwner[] = [];
      for (const host of ["a", "b", "c"]) {
        const each = await owner(host);
        hosts.push(each);
        await each.start();
      }
      const isEven = () => {
        const total = sizes().reduce((sum, size) => sum + size, 0);
        return total === PARTITIONS && Math.max(...sizes()) - Math.min(...sizes()) <= 1;
      };
      await until(isEven, "each to own a third", 20_000);
      for (const host of hosts.slice(0, 2)) await host.stop();
      await until(() => owned.get("c")?.size === PARTITIONS, "the last to own all", 20_000);
      await hosts.at(-1)?.stop();
    });
  });
}

leaseContract("memory", async () => {
  const leases = new MemoryLeases();
  return { of: async (host) => leases.of(host), cut: async (host) => void leases.cut.add(host) };
});

describe("lease tables in PostgreSQL", () => {
  const databases: TestDatabase[] = [];
  const pools: Awaited<ReturnType<typeof createPool>>[] = [];
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await Promise.all(databases.map((database) => database.drop()));
  });

  leaseContract("PostgreSQL", async () => {
    const database = await createTestDatabase();
    databases.push(database);
    const own = new Map<string, Awaited<ReturnType<typeof createPool>>>();
    return {
      of: async (host) => {
        const pool =
          own.get(host) ?? (await createPool(database.serviceUrl, { maximumPoolSize: 1 }));
        own.set(host, pool);
        pools.push(pool);
        return new PostgresLeaseTable(pool, host);
      },
      cut: async (host) => {
        const pool = own.get(host);
        own.delete(host);
        await pool?.end();
      },
    };
  });
});
