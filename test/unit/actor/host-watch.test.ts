import { beforeEach, describe, expect, it } from "vitest";
import { HostWatch } from "../../../src/actor/host-watch.ts";
import type { LeaseView } from "../../../src/actor/lease.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const LEASE = 1_200;
const LOOK = LEASE / 6;

describe("host watch", () => {
  let clock: ManualClock;
  let watch: HostWatch;
  let connected: boolean;
  let counter: number;

  beforeEach(async () => {
    clock = new ManualClock();
    connected = true;
    counter = 1;
    const table = { isConnected: async () => connected };
    watch = new HostWatch({ host: "me", table, clock, leaseTime: LEASE });
    await isAlive();
  });

  async function isAlive(): Promise<boolean> {
    const view: LeaseView = {
      hosts: new Map([["other", { counter, leaving: false }]]),
      partitions: new Map(),
    };
    return (await watch.alive(view)).has("other");
  }

  /** Looks at the usual pace until the other counts as gone; the milliseconds it took. */
  async function silenceUntilGone(most = LEASE * 3): Promise<number> {
    for (let waited = LOOK; waited <= most; waited += LOOK) {
      clock.advance(LOOK);
      if (!(await isAlive())) return waited;
    }
    return Number.POSITIVE_INFINITY;
  }

  it("watch: a silent host is gone after the lease time, and not before", async () => {
    expect(await silenceUntilGone()).toBe(LEASE);
  });

  it("watch: a silent host without a connection is gone after half of it", async () => {
    connected = false;
    expect(await silenceUntilGone()).toBe(LEASE / 2);
  });

  it("watch: a host that only reconnects keeps its lease", async () => {
    connected = false;
    clock.advance(LOOK * 2);
    expect(await isAlive()).toBe(true);
    connected = true;
    clock.advance(LOOK);
    expect(await isAlive()).toBe(true);
    connected = false;
    clock.advance(LOOK);
    expect(await isAlive()).toBe(true);
  });

  it("watch: a host that moves its counter is alive, connected or not", async () => {
    connected = false;
    for (let n = 0; n < 20; n += 1) {
      clock.advance(LOOK);
      counter += 1;
      expect(await isAlive()).toBe(true);
    }
  });

  it("watch: time in which the lease store was away is nobody's silence", async () => {
    clock.advance(LOOK);
    await isAlive();
    for (let n = 0; n < 20; n += 1) {
      clock.advance(LOOK);
      watch.blind();
    }
    expect(await isAlive()).toBe(true);
    expect(await silenceUntilGone()).toBe(LEASE);
  });

  it("watch: a lease store that answers only now and then hides nobody's end", async () => {
    let looks = 0;
    for (let isThere = true; isThere && looks < 60; looks += 1) {
      clock.advance(LOOK);
      if (looks % 3 === 2) watch.blind();
      else isThere = await isAlive();
    }
    expect(looks).toBe(14);
  });

  it("watch: a host that is gone stays gone until its counter moves", async () => {
    await silenceUntilGone();
    watch.blind();
    expect(await isAlive()).toBe(false);
    clock.advance(LEASE * 5);
    expect(await isAlive()).toBe(false);
    counter += 1;
    expect(await isAlive()).toBe(true);
  });

  it("watch: time in which this host itself stood still is nobody's silence", async () => {
    clock.advance(LEASE * 10);
    expect(await isAlive()).toBe(true);
    expect(await silenceUntilGone()).toBe(LEASE);
  });
});
