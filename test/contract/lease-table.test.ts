import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LeaseTable } from "../../src/actor/lease.ts";
import { PartitionOwner } from "../../src/actor/partition-owner.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { connectBus } from "../../src/bus/connect.ts";
import { KvLeaseTable } from "../../src/bus/kv-lease-table.ts";
import { MemoryLeaseTable } from "../support/memory/memory-lease-table.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { until } from "../support/until.ts";

type Bus = Awaited<ReturnType<typeof connectBus>>;

function leaseContract(name: string, create: () => Promise<LeaseTable>): void {
  describe(`lease table: ${name}`, () => {
    let table: LeaseTable;
    beforeEach(async () => {
      table = await create();
    });

    const holder = async (partition: number): Promise<string | undefined> =>
      (await table.read()).partitions.get(partition)?.holder;

    it("lease: a beat is seen with its counter", async () => {
      expect(await table.beat("a", { counter: 1, leaving: false })).toBe(true);
      expect(await table.beat("a", { counter: 2, leaving: true })).toBe(true);
      const lease = async () => (await table.read()).hosts.get("a");
      await until(async () => (await lease())?.counter === 2, "the counter");
      expect(await lease()).toEqual({ counter: 2, leaving: true });
      expect(await table.isConnected("a")).toBe(true);
      await table.leave("a");
      await until(async () => !(await table.read()).hosts.has("a"), "the host to be gone");
    });

    it("lease: of two takers of one revision exactly one wins", async () => {
      for (let round = 0; round < 5; round += 1) {
        const record = async () => (await table.read()).partitions.get(3);
        const revision = (await record())?.revision ?? 0;
        const taken = await Promise.all(
          ["a", "b", "c"].map((host) => table.take(3, host, revision)),
        );
        expect(taken.filter(Boolean)).toHaveLength(1);
        // The view may lag behind; the next round needs the revision of this one.
        await until(async () => ((await record())?.revision ?? 0) > revision, "the new revision");
        expect(await holder(3)).toBe(["a", "b", "c"][taken.indexOf(true)]);
      }
    });

    it("lease: whoever takes or frees a partition sees it at once", async () => {
      for (let round = 0; round < 20; round += 1) {
        const revision = (await table.read()).partitions.get(7)?.revision ?? 0;
        expect(await table.take(7, "a", revision)).toBe(true);
        expect(await holder(7)).toBe("a");
        await table.free(7, "a");
        expect(await holder(7)).toBe("");
      }
    });

    it("lease: only the holder frees a partition", async () => {
      const revision = (await table.read()).partitions.get(5)?.revision ?? 0;
      expect(await table.take(5, "a", revision)).toBe(true);
      await table.free(5, "b");
      await until(async () => (await holder(5)) === "a", "a to hold it");
      await table.free(5, "a");
      await until(async () => (await holder(5)) === "", "it to be free");
    });

    it("lease: hosts share all partitions, and a silent one loses its share", async () => {
      const owned = new Map<string, Set<number>>();
      const owner = (host: string): PartitionOwner => {
        const mine = new Set<number>();
        owned.set(host, mine);
        return new PartitionOwner({
          host,
          table,
          runtime: systemRuntime,
          log: silentLog,
          leaseTime: 400,
          onTaken: (partition) => mine.add(partition),
          onReleased: async (partition) => void mine.delete(partition),
          onLost: async (partition) => void mine.delete(partition),
        });
      };
      const size = (host: string): number => owned.get(host)?.size ?? 0;
      const [a, b] = [owner("host-a"), owner("host-b")];
      await a.start();
      await until(() => size("host-a") === PARTITIONS, "a to own all", 20_000);
      await b.start();
      await until(
        () => size("host-a") === PARTITIONS / 2 && size("host-b") === PARTITIONS / 2,
        "both to own half",
        20_000,
      );
      await a.stop();
      await until(() => size("host-b") === PARTITIONS, "b to own all", 20_000);
      expect(size("host-a")).toBe(0);
      await b.stop();
    });
  });
}

leaseContract("memory", async () => new MemoryLeaseTable());

describe("lease tables on NATS", () => {
  let nats: TestNats;
  const open: { bus: Bus; table: KvLeaseTable }[] = [];
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(async () => {
    for (const { bus, table } of open) {
      table.stop();
      await bus.close();
    }
    await nats.stop();
  });
  leaseContract("NATS key-value", async () => {
    const bus = await connectBus({
      url: nats.url,
      token: nats.token,
      name: "contract",
      log: silentLog,
    });
    const table = new KvLeaseTable(bus, systemRuntime);
    open.push({ bus, table });
    return table;
  });
});
