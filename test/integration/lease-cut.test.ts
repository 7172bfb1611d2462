import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type Actors, createActors } from "../../src/app-actors.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { Stack } from "../../src/base/stack.ts";
import { connectBus } from "../../src/bus/connect.ts";
import { LiveFanout } from "../../src/bus/live-fanout.ts";
import { NatsLine } from "../../src/bus/nats-line.ts";
import { PostgresLeaseTable } from "../../src/store/lease-table.ts";
import { createPool } from "../../src/store/pool.ts";
import { SessionAudio } from "../../src/store/session-audio.ts";
import { SessionBacklog } from "../../src/store/session-backlog.ts";
import { SessionJournal } from "../../src/store/session-journal.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { portOf, throughProxy } from "../support/proxied-address.ts";
import { SessionHouse } from "../support/session-house.ts";
import { until } from "../support/until.ts";

const LEASE = 1_200;
const SESSIONS = 8;

let house: SessionHouse;
let nats: TestNats;
const stack = new Stack(silentLog);
let hosts = new Stack(silentLog);

beforeAll(async () => {
  [house, nats] = await Promise.all([SessionHouse.open(), startNats()]);
  stack.push("house", () => house.close());
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
    postgres: await open("postgres", portOf(house.serviceUrl)),
  };
}

/** A host of sessions over connections of its own. */
async function startHost(name: string, ways: Ways): Promise<Actors> {
  const url = throughProxy(nats.url, ways.nats);
  const bus = await connectBus({ url, token: nats.token, name, log: silentLog });
  const database = throughProxy(house.serviceUrl, ways.postgres);
  const pool = await createPool(database, { maximumPoolSize: 8, statementTimeout: 2_000 });
  const leases = await createPool(database, { maximumPoolSize: 1, statementTimeout: LEASE * 0.4 });
  const line = new NatsLine(bus);
  const actors = createActors({
    host: name,
    journal: new SessionJournal(pool),
    backlog: new SessionBacklog(pool),
    source: new SessionAudio(pool, (id, sha256) => house.blobs.read(id, sha256)),
    transcribers: {
      open() {
        throw new AppError("unavailable", "There are no workers here.");
      },
    },
    line,
    table: new PostgresLeaseTable(leases, name),
    fanout: new LiveFanout(line, systemRuntime),
    leaseMs: LEASE,
    passivateMs: 600_000,
    runtime: systemRuntime,
    log: silentLog,
  });
  actors.host.start();
  actors.inbox.start();
  actors.sweeper.start();
  await actors.owner.start();
  hosts.push(`bus of ${name}`, () => bus.close());
  hosts.push(`pool of ${name}`, () => pool.end());
  hosts.push(`leases of ${name}`, () => leases.end());
  hosts.push(`inbox of ${name}`, () => actors.inbox.stop());
  hosts.push(`sweeper of ${name}`, () => actors.sweeper.stop());
  hosts.push(`actors of ${name}`, () => actors.host.drain());
  hosts.push(`partitions of ${name}`, () => actors.owner.stop());
  return actors;
}

/** Writes to a session wherever a host believes to have it, as its effects do, until told to stop. */
async function keepWriting({ host }: Actors, id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const command = { type: "ConcernStored", concernId: newId() } as const;
    if (host.owned.includes(partitionOf(id))) {
      await host.deliver(id, command, newId()).catch(() => {});
    }
    await systemRuntime.delay(40);
  }
}

const half = (all: readonly Actors[]) => () =>
  all.every(({ owner }) => owner.owned.size === PARTITIONS / 2);

it("leases: a host cut from NATS alone keeps its sessions, one cut from PostgreSQL hands them over", async () => {
  const ways = await waysOf("a");
  const a = await startHost("a", ways);
  const b = await startHost("b", await waysOf("b"));
  await until(half([a, b]), "both to own half", 20_000);
  const { device } = await house.ownDevice();
  const ids: string[] = [];
  for (let n = 0; n < SESSIONS || !ids.some((id) => a.owner.owned.has(partitionOf(id))); n += 1) {
    ids.push(await house.start(device, { title: "T" }));
    await house.stop(device);
  }
  const stop = new AbortController();
  const writing = [a, b].flatMap((host) => ids.map((id) => keepWriting(host, id, stop.signal)));
  const look = async (): Promise<{ epoch: number; seq: number }[]> =>
    house.sql("select epoch::int, seq::int from sessions where id = any($1) order by id", [ids]);
  const allGoOn = async (why: string): Promise<void> => {
    const from = await look();
    const areOn = async () =>
      (await look()).every(({ seq }, index) => seq > (from[index]?.seq ?? 0) + 20);
    await until(areOn, why, 20_000);
  };
  await allGoOn("all to be written to");
  const before = await look();
  const epochs = async () => (await look()).map(({ epoch }) => epoch);

  const withoutNats = ways.nats.inflict({ kind: "refuse", ms: 60_000 });
  await systemRuntime.delay(3 * LEASE);
  await allGoOn("all to be written to, without NATS");
  expect(await epochs()).toEqual(before.map(({ epoch }) => epoch));
  ways.nats.heal();
  await withoutNats;

  const withoutRecord = ways.postgres.inflict({ kind: "refuse", ms: 60_000 });
  await until(() => b.owner.owned.size === PARTITIONS, "the other to take all", 20_000);
  await until(() => !a.owner.hasRight(), "the right of the one that is cut to end", LEASE);
  await allGoOn("all to be written to by the other");
  for (const [index, epoch] of (await epochs()).entries()) {
    expect(epoch - (before[index]?.epoch ?? 0)).toBeLessThanOrEqual(1);
  }
  ways.postgres.heal();
  await withoutRecord;
  await until(half([a, b]), "both to own half again", 20_000);
  stop.abort();
  await Promise.all(writing);
});

it("leases: a PostgreSQL that stands still, or starts anew, moves no session", async () => {
  const [c, d] = [await waysOf("c"), await waysOf("d")];
  const both = [await startHost("c", c), await startHost("d", d)];
  const shares = () => both.map(({ owner }) => [...owner.owned].sort().join());
  await until(half(both), "both to own half", 20_000);
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
