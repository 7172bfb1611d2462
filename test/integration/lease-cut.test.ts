import { afterAll, beforeAll, expect, it } from "vitest";
import { type Actors, createActors } from "../../src/app-actors.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../src/base/partition.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { Stack } from "../../src/base/stack.ts";
import { connectBus } from "../../src/bus/connect.ts";
import { KvLeaseTable } from "../../src/bus/kv-lease-table.ts";
import { LiveFanout } from "../../src/bus/live-fanout.ts";
import { NatsCommandQueue } from "../../src/bus/nats-command-queue.ts";
import { NatsLine } from "../../src/bus/nats-line.ts";
import { SessionAudio } from "../../src/store/session-audio.ts";
import { SessionBacklog } from "../../src/store/session-backlog.ts";
import { SessionJournal } from "../../src/store/session-journal.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { SessionHouse } from "../support/session-house.ts";
import { until } from "../support/until.ts";

const LEASE = 1_200;
const SESSIONS = 8;

let house: SessionHouse;
let nats: TestNats;
const stack = new Stack(silentLog);

beforeAll(async () => {
  [house, nats] = await Promise.all([SessionHouse.open(), startNats()]);
  stack.push("house", () => house.close());
  stack.push("nats", () => nats.stop());
});
afterAll(() => stack.stop(10_000));

/** A host of sessions over its own connection to the bus. */
async function startHost(name: string, port: number): Promise<Actors> {
  const url = `nats://127.0.0.1:${port}`;
  const bus = await connectBus({ url, token: nats.token, name, log: silentLog });
  const line = new NatsLine(bus);
  const table = new KvLeaseTable(bus, systemRuntime);
  const actors = createActors({
    host: name,
    journal: new SessionJournal(house.pool),
    backlog: new SessionBacklog(house.pool),
    source: new SessionAudio(house.pool, (id, sha256) => house.blobs.read(id, sha256)),
    transcribers: {
      open() {
        throw new AppError("unavailable", "There are no workers here.");
      },
    },
    queue: new NatsCommandQueue(bus, 1),
    line,
    table,
    fanout: new LiveFanout(line, systemRuntime),
    lookUp: async () => [],
    leaseMs: LEASE,
    passivateMs: 600_000,
    runtime: systemRuntime,
    log: silentLog,
  });
  actors.host.start();
  actors.sweeper.start();
  await actors.owner.start();
  stack.push(`bus of ${name}`, () => bus.close());
  stack.push(`inbox of ${name}`, () => actors.inbox.stop());
  stack.push(`sweeper of ${name}`, () => actors.sweeper.stop());
  stack.push(`leases of ${name}`, () => table.stop());
  stack.push(`actors of ${name}`, () => actors.host.drain());
  stack.push(`partitions of ${name}`, () => actors.owner.stop());
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

it("leases: a host that is cut from them alone yields at once, each session changes hands once", async () => {
  const way = await FaultProxy.start("nats of a", Number(new URL(nats.url).port));
  stack.push("way", () => way.stop());
  const a = await startHost("a", way.port);
  const b = await startHost("b", Number(new URL(nats.url).port));
  const half = () => [a, b].every(({ owner }) => owner.owned.size === PARTITIONS / 2);
  await until(half, "both to own half", 20_000);
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
  await until(async () => (await look()).every(({ seq }) => seq > 4), "all to be written to");
  const before = await look();
  const cut = way.inflict({ kind: "refuse", ms: 60_000 });
  await until(() => b.owner.owned.size === PARTITIONS, "the other to take all", 20_000);
  await until(() => a.owner.owned.size === 0, "the one that is cut to yield", 20_000);
  const taken = await look();
  const goneOn = async () =>
    (await look()).every(({ seq }, index) => seq > (taken[index]?.seq ?? 0) + 20);
  await until(goneOn, "all to be written to again", 20_000);
  for (const [index, { epoch }] of (await look()).entries()) {
    expect(epoch - (before[index]?.epoch ?? 0)).toBeLessThanOrEqual(1);
  }
  stop.abort();
  await Promise.all(writing);
  way.heal();
  await cut;
  await until(half, "both to own half again", 20_000);
});
