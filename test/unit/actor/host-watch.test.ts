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

  beforeEach(() => {
    clock = new ManualClock();
    connected = true;
    counter = 1;
    watch = new HostWatch({ host: "me", clock, leaseTime: LEASE });
    isAlive();
  });

  function isAlive(): boolean {
    const view: LeaseView = {
      hosts: new Map([["other", { counter, leaving: false, isConnected: connected }]]),
      partitions: new Map(),
    };
    return watch.alive(view).has("other");
  }

  /** Looks at the usual pace until the other counts as gone; the milliseconds it took. */
  function silenceUntilGone(most = LEASE * 3): number {
    for (let waited = LOOK; waited <= most; waited += LOOK) {
      clock.advance(LOOK);
      if (!isAlive()) return waited;
    }
    return Number.POSITIVE_INFINITY;
  }

  it("watch: a silent host is gone after the lease time, and not before", () => {
    expect(silenceUntilGone()).toBe(LEASE);
  });

  it("watch: a silent host without a connection is gone after a third of it", () => {
    connected = false;
    expect(silenceUntilGone()).toBe(LEASE / 3);
  });

  it("watch: a host that only reconnects keeps its lease", () => {
    connected = false;
    clock.advance(LOOK * 2);
    expect(isAlive()).toBe(true);
    connected = true;
    clock.advance(LOOK);
    expect(isAlive()).toBe(true);
    connected = false;
    clock.advance(LOOK);
    expect(isAlive()).toBe(true);
  });

  it("watch: a host that moves its counter is alive, connected or not", () => {
    connected = false;
    for (let n = 0; n < 20; n += 1) {
      clock.advance(LOOK);
      counter += 1;
      expect(isAlive()).toBe(true);
    }
  });

  it("watch: time in which the record was away is nobody's silence", () => {
    clock.advance(LOOK);
    isAlive();
    for (let n = 0; n < 20; n += 1) {
      clock.advance(LOOK);
      watch.blind();
    }
    expect(isAlive()).toBe(true);
    expect(silenceUntilGone()).toBe(LEASE);
  });

  it("watch: a record that answers only now and then hides nobody's end", () => {
    let looks = 0;
    for (let isThere = true; isThere && looks < 60; looks += 1) {
      clock.advance(LOOK);
      if (looks % 3 === 2) watch.blind();
      else isThere = isAlive();
    }
    expect(looks).toBe(14);
  });

  it("watch: a host that is gone stays gone until its counter moves", () => {
    silenceUntilGone();
    watch.blind();
    expect(isAlive()).toBe(false);
    clock.advance(LEASE * 5);
    expect(isAlive()).toBe(false);
    counter += 1;
    expect(isAlive()).toBe(true);
  });

  it("watch: time in which this host itself stood still is nobody's silence", () => {
    clock.advance(LEASE * 10);
    expect(isAlive()).toBe(true);
    expect(silenceUntilGone()).toBe(LEASE);
  });
});
