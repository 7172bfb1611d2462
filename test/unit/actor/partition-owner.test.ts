import { describe, expect, it } from "vitest";
import type { HostLease, LeaseView } from "../../../src/actor/lease.ts";
import { PartitionOwner } from "../../../src/actor/partition-owner.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import { silentLog } from "../../../src/base/log.ts";
import { PARTITIONS } from "../../../src/base/partition.ts";
import { ManualClock, runtimeBy } from "../../support/manual-clock.ts";
import { MemoryLeaseTable } from "../../support/memory/memory-lease-table.ts";

/** Longer than any test: looks are made by hand. */
const LEASE = 3_600_000;

describe("partition owner", () => {
  const clock = new ManualClock();

  function owner(
    host: string,
    table: MemoryLeaseTable,
    onReleased: (partition: number) => Promise<void> = async () => {},
  ): PartitionOwner {
    return new PartitionOwner({
      host,
      table,
      runtime: runtimeBy(clock),
      log: silentLog,
      leaseTime: LEASE,
      onTaken: () => {},
      onReleased,
      onLost: async () => {},
    });
  }

  it("owner: a host that joins gets its half, and no partition is ever held twice", async () => {
    const table = new MemoryLeaseTable();
    const [a, b] = [owner("a", table), owner("b", table)];
    await a.look();
    expect(a.owned.size).toBe(PARTITIONS);
    for (let n = 0; n < 3; n += 1) {
      await b.look();
      await a.look();
      expect([...a.owned].filter((partition) => b.owned.has(partition))).toEqual([]);
    }
    expect([a.owned.size, b.owned.size]).toEqual([PARTITIONS / 2, PARTITIONS / 2]);
  });

  it("owner: a lease store that is not there yet is no warning, one that stays away or leaves is", async () => {
    const time = new ManualClock();
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_: object, message: string) => warnings.push(message) };
    const table = new MemoryLeaseTable();
    let isAway = true;
    const read = table.read.bind(table);
    table.read = () => (isAway ? Promise.reject(new Error("503")) : read());
    const create = () =>
      new PartitionOwner({
        ...{ host: "a", table, runtime: runtimeBy(time), log, leaseTime: LEASE, onTaken: () => {} },
        ...{ onReleased: async () => {}, onLost: async () => {} },
      });
    const patient = create();
    await patient.look();
    expect(warnings).toEqual([]);
    time.advance(15_000);
    await patient.look();
    expect(warnings).toEqual(["lease store not reachable"]);
    const lucky = create();
    isAway = false;
    await lucky.look();
    isAway = true;
    await lucky.look();
    expect(warnings).toHaveLength(2);
  });

  it("owner: one that leaves hands over each partition when it is put away, at once", async () => {
    const table = new MemoryLeaseTable();
    const putAway = createDeferred<void>();
    let slow: number | undefined;
    const a = owner("a", table, async (partition) => {
      slow ??= partition;
      if (partition === slow) await putAway.promise;
    });
    const b = owner("b", table);
    await a.look();
    const stopping = a.stop();
    await a.look();
    await b.look();
    await expect
      .poll(async () => {
        await b.look();
        return b.owned.size;
      })
      .toBe(PARTITIONS - 1);
    expect(b.owned.has(slow ?? -1)).toBe(false);
    putAway.resolve();
    await stopping;
    await b.look();
    expect(b.owned.size).toBe(PARTITIONS);
  });

  it("owner: what it holds without knowing goes to who needs it", async () => {
    const table = new MemoryLeaseTable();
    // Each take succeeds, and its answer is lost.
    const deaf = new MemoryLeaseTable();
    const take = table.take.bind(table);
    Object.assign(deaf, {
      read: () => table.read(),
      beat: (host: string, lease: HostLease) => table.beat(host, lease),
      take: async (...which: Parameters<typeof take>) => {
        await take(...which);
        throw new Error("answer lost");
      },
      free: (partition: number, host: string) => table.free(partition, host),
    });
    const a = owner("a", deaf);
    await a.look();
    expect(a.owned.size).toBe(0);
    const b = owner("b", table);
    await b.look();
    Object.assign(deaf, { take });
    for (let n = 0; n < 4; n += 1) {
      await a.look();
      await b.look();
    }
    expect([a.owned.size, b.owned.size]).toEqual([PARTITIONS / 2, PARTITIONS / 2]);
  });

  it("owner: a look that lags behind its own takes leaves no partition to nobody", async () => {
    const table = new MemoryLeaseTable();
    const lagging = new MemoryLeaseTable();
    let seen: LeaseView | undefined;
    Object.assign(lagging, {
      read: async () => seen ?? table.read(),
      beat: (host: string, lease: HostLease) => table.beat(host, lease),
      take: table.take.bind(table),
      free: (partition: number, host: string) => table.free(partition, host),
    });
    const [a, b] = [owner("a", lagging), owner("b", table)];
    await a.look();
    // As it was before the takes: all seem to be lost again.
    seen = { hosts: (await table.read()).hosts, partitions: new Map() };
    await b.look();
    await a.look();
    seen = undefined;
    for (let n = 0; n < 4; n += 1) {
      await a.look();
      await b.look();
    }
    expect([a.owned.size, b.owned.size]).toEqual([PARTITIONS / 2, PARTITIONS / 2]);
  });
});
