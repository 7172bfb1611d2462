import { describe, expect, it } from "vitest";
import type { LeaseTable } from "../../../src/actor/lease.ts";
import { PartitionOwner } from "../../../src/actor/partition-owner.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import { silentLog } from "../../../src/base/log.ts";
import { PARTITIONS } from "../../../src/base/partition.ts";
import { ManualClock, runtimeBy } from "../../support/manual-clock.ts";
import { MemoryLeases } from "../../support/memory/memory-leases.ts";

/** Longer than any test: looks are made by hand. */
const LEASE = 3_600_000;

describe("partition owner", () => {
  const clock = new ManualClock();

  function owner(
    host: string,
    table: MemoryLeases | LeaseTable,
    onReleased: (partitions: readonly number[]) => Promise<void> = async () => {},
  ): PartitionOwner {
    return new PartitionOwner({
      host,
      table: table instanceof MemoryLeases ? table.of(host) : table,
      runtime: runtimeBy(clock),
      log: silentLog,
      leaseTime: LEASE,
      onTaken: () => {},
      onReleased,
      onLost: async () => {},
    });
  }

  it("owner: a host that joins gets its half, and no partition is ever held twice", async () => {
    const table = new MemoryLeases();
    const [a, b] = [owner("a", table), owner("b", table)];
    await a.poll();
    expect(a.owned.size).toBe(PARTITIONS);
    for (let n = 0; n < 3; n += 1) {
      await b.poll();
      await a.poll();
      expect([...a.owned].filter((partition) => b.owned.has(partition))).toEqual([]);
    }
    expect([a.owned.size, b.owned.size]).toEqual([PARTITIONS / 2, PARTITIONS / 2]);
  });

  it("owner: partitions are shared to within one, and a host that joins or leaves moves few", async () => {
    const table = new MemoryLeases();
    const hosts: PartitionOwner[] = [];
    const holders = () => [...table.partitions.values()].map(({ holder }) => holder);
    const settle = async () => {
      for (let n = 0; n < 4; n += 1) for (const host of hosts) await host.poll();
    };
    for (let n = 1; n <= 6; n += 1) {
      const before = holders();
      hosts.push(owner(`host-${n}`, table));
      await settle();
      const sizes = hosts.map(({ owned }) => owned.size);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      const moved = holders().filter((holder, index) => holder !== before[index]);
      expect(moved).toHaveLength(hosts.at(-1)?.owned.size ?? 0);
    }
    const before = holders();
    const [gone] = hosts.splice(2, 1);
    const held = gone?.owned.size ?? 0;
    await gone?.stop();
    await settle();
    const moved = holders().filter((holder, index) => holder !== before[index]);
    expect(moved).toHaveLength(held);
  });

  it("owner: has the right to its sessions for a lease from before it asked, and no longer", async () => {
    const time = new ManualClock();
    const leases = new MemoryLeases().of("a");
    let isAway = true;
    const table: LeaseTable = {
      ...leases,
      poll: async (lease) => {
        time.advance(300);
        if (isAway) throw new Error("away");
        return leases.poll(lease);
      },
    };
    const a = new PartitionOwner({
      ...{ host: "a", table, runtime: runtimeBy(time), log: silentLog, leaseTime: 1_500 },
      ...{ onTaken: () => {}, onReleased: async () => {}, onLost: async () => {} },
    });
    expect(a.hasRight()).toBe(false);
    await a.poll();
    expect(a.hasRight()).toBe(false);
    isAway = false;
    await a.poll();
    time.advance(1_199);
    expect(a.hasRight()).toBe(true);
    isAway = true;
    await a.poll();
    expect(a.hasRight()).toBe(false);
    // Nobody took over meanwhile.
    expect(a.owned.size).toBe(PARTITIONS);
    isAway = false;
    await a.poll();
    expect(a.hasRight()).toBe(true);
  });

  it("owner: the only host looks more rarely, within its lease, and as often as all once another comes", async () => {
    const time = new ManualClock();
    const table = new MemoryLeases();
    const leases = table.of("a");
    const pauses: number[] = [];
    let wake = (): void => {};
    let took = 0;
    let isAway = false;
    const a = new PartitionOwner({
      host: "a",
      table: {
        ...leases,
        poll: async (lease) => {
          time.advance(took);
          if (isAway) throw new Error("away");
          return leases.poll(lease);
        },
      },
      runtime: {
        ...runtimeBy(time),
        after: (ms, work) => {
          pauses.push(ms);
          wake = work;
          return { cancel: () => {}, refresh: () => {} };
        },
      },
      log: silentLog,
      leaseTime: 1_500,
      ...{ onTaken: () => {}, onReleased: async () => {}, onLost: async () => {} },
    });
    const next = async (): Promise<number | undefined> => {
      const known = pauses.length;
      time.advance(pauses.at(-1) ?? 0);
      wake();
      await expect.poll(() => pauses.length).toBeGreaterThan(known);
      return pauses.at(-1);
    };
    await a.start();
    expect(pauses).toEqual([250]);
    await next();
    expect([await next(), await next()]).toEqual([750, 750]);
    // A record that answers late, and one that does not, cost it no lease.
    took = 100;
    expect(await next()).toBe(650);
    took = 600;
    isAway = true;
    expect(await next()).toBe(0);
    took = 0;
    isAway = false;
    expect(a.hasRight()).toBe(true);
    expect(await next()).toBe(750);
    table.hosts.set("b", { counter: 1, leaving: false });
    expect(await next()).toBe(250);
  });

  it("owner: one that leaves hands over each group of partitions when it is put away, at once", async () => {
    const table = new MemoryLeases();
    const putAway = createDeferred<void>();
    let slow: readonly number[] | undefined;
    const a = owner("a", table, async (partitions) => {
      slow ??= partitions;
      if (partitions === slow) await putAway.promise;
    });
    const b = owner("b", table);
    await a.poll();
    const stopping = a.stop();
    await a.poll();
    await b.poll();
    await expect
      .poll(async () => {
        await b.poll();
        return b.owned.size;
      })
      .toBe(PARTITIONS - (slow?.length ?? 0));
    expect(slow?.length).toBeLessThanOrEqual(PARTITIONS / 64);
    expect(slow?.some((partition) => b.owned.has(partition))).toBe(false);
    putAway.resolve();
    await stopping;
    await b.poll();
    expect(b.owned.size).toBe(PARTITIONS);
  });

  it("owner: what it holds without knowing goes to who needs it", async () => {
    const table = new MemoryLeases();
    // Each take succeeds, and its answer is lost.
    const leases = table.of("a");
    let isDeaf = true;
    const deaf: LeaseTable = {
      ...leases,
      take: async (wanted) => {
        const taken = await leases.take(wanted);
        if (isDeaf) throw new Error("answer lost");
        return taken;
      },
    };
    const a = owner("a", deaf);
    await a.poll();
    expect(a.owned.size).toBe(0);
    const b = owner("b", table);
    await b.poll();
    isDeaf = false;
    for (let n = 0; n < 4; n += 1) {
      await a.poll();
      await b.poll();
    }
    expect([a.owned.size, b.owned.size]).toEqual([PARTITIONS / 2, PARTITIONS / 2]);
  });
});
