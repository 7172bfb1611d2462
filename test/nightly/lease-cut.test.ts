import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { Stack } from "../../src/base/stack.ts";
import type { Actors } from "../../src/roles/actors.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import {
  isHalved,
  LEASE,
  SteadyWriting,
  startLeaseHost,
  startSessions,
} from "../support/lease-hosts.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { portOf, throughProxy } from "../support/proxied-address.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { until } from "../support/until.ts";

let fixture: SessionFixture;
let nats: TestNats;
const stack = new Stack(silentLog);
let hosts = new Stack(silentLog);

beforeAll(async () => {
  [fixture, nats] = await Promise.all([SessionFixture.open(), startNats()]);
  stack.push("house", () => fixture.close());
  stack.push("nats", () => nats.stop());
});
afterEach(async () => {
  await hosts.stop(10_000);
  hosts = new Stack(silentLog);
});
afterAll(() => stack.stop(10_000));

/** What lies between a host and its servers. */
interface Ways {
  nats: FaultProxy;
  postgres: FaultProxy;
}

async function waysOf(name: string): Promise<Ways> {
  const open = async (server: string, port: number): Promise<FaultProxy> => {
    const proxy = await FaultProxy.start(`${server} of ${name}`, port);
    hosts.push(`${server} of ${name}`, () => proxy.stop());
    return proxy;
  };
  return {
    nats: await open("nats", portOf(nats.url)),
    postgres: await open("postgres", portOf(fixture.serviceUrl)),
  };
}

function startHost(name: string, ways: Ways): Promise<Actors> {
  const database = throughProxy(fixture.serviceUrl, ways.postgres);
  const bus = { url: throughProxy(nats.url, ways.nats), token: nats.token };
  return startLeaseHost(name, { nats: bus, database }, fixture, hosts);
}

it("leases: a host cut from NATS alone keeps its sessions, one cut from PostgreSQL hands them over", async () => {
  const ways = await waysOf("a");
  const a = await startHost("a", ways);
  const b = await startHost("b", await waysOf("b"));
  await until(isHalved([a, b]), "both to own half", 20_000);
  const ids = await startSessions(fixture, [a, b]);
  const writing = new SteadyWriting([a, b], ids, fixture.pool);
  await writing.goesOn("");
  const before = await writing.epochs();

  const withoutNats = ways.nats.inflict({ kind: "refuse", ms: 60_000 });
  await systemRuntime.delay(3 * LEASE);
  await writing.goesOn(", without NATS");
  expect(await writing.epochs()).toEqual(before);
  ways.nats.heal();
  await withoutNats;

  const withoutRecord = ways.postgres.inflict({ kind: "refuse", ms: 60_000 });
  await until(() => b.owner.owned.size === PARTITIONS, "the other to take all", 20_000);
  await until(() => !a.owner.hasRight(), "the right of the one that is cut to end", LEASE);
  await writing.goesOn(" by the other");
  for (const [index, epoch] of (await writing.epochs()).entries()) {
    expect(epoch - (before[index] ?? 0)).toBeLessThanOrEqual(1);
  }
  ways.postgres.heal();
  await withoutRecord;
  await until(isHalved([a, b]), "both to own half again", 20_000);
  await writing.end();
});

it("leases: a PostgreSQL that stands still, or starts anew, moves no session", async () => {
  const [c, d] = [await waysOf("c"), await waysOf("d")];
  const both = [await startHost("c", c), await startHost("d", d)];
  const shares = () => both.map(({ owner }) => [...owner.owned].sort().join());
  await until(isHalved(both), "both to own half", 20_000);
  const before = shares();
  for (const kind of ["stall", "refuse"] as const) {
    const faults = [c, d].map(({ postgres }) => postgres.inflict({ kind, ms: 5_000 }));
    await systemRuntime.delay(2 * LEASE);
    expect(both.map(({ owner }) => owner.hasRight())).toEqual([false, false]);
    await Promise.all(faults);
    await until(() => both.every(({ owner }) => owner.hasRight()), "both to be back", 20_000);
    await systemRuntime.delay(3 * LEASE);
  }
  expect(shares()).toEqual(before);
});
