import { headers } from "nats";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { connectBus } from "../../src/bus/connect.ts";
import { KvLeaseTable } from "../../src/bus/kv-lease-table.ts";
import { LEASE_BUCKET } from "../../src/wire/subjects.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { codeOf } from "../support/route-call.ts";
import { until } from "../support/until.ts";

type Bus = Awaited<ReturnType<typeof connectBus>>;

describe("lease table over a bad line", () => {
  let nats: TestNats;
  let line: FaultProxy;
  let bus: Bus;
  let table: KvLeaseTable;

  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.stop());

  beforeEach(async () => {
    line = await FaultProxy.start("host-nats", Number(new URL(nats.url).port));
    const url = `nats://127.0.0.1:${line.port}`;
    bus = await connectBus({ url, token: nats.token, name: "host", log: silentLog });
    table = new KvLeaseTable(bus, systemRuntime);
  });
  afterEach(async () => {
    line.heal();
    table.stop();
    await bus.close();
    await line.stop();
  });

  it("knows a beat as its own whose answer got lost", async () => {
    expect(await table.beat("a", { counter: 1, leaving: false })).toBe(true);
    const deaf = line.inflict({ kind: "one-way", direction: "down", ms: 60_000 });
    expect(await codeOf(table.beat("a", { counter: 2, leaving: false }))).toBe("unavailable");
    line.heal();
    await deaf;
    expect(await table.beat("a", { counter: 3, leaving: false })).toBe(true);
    const counter = async () => (await table.read()).hosts.get("a")?.counter;
    expect(await counter()).toBe(3);
  });

  it("takes the expiry from a bucket of an earlier version, and keeps what is in it", async () => {
    const { streams } = await bus.jetstreamManager();
    await streams.delete(`KV_${LEASE_BUCKET}`).catch(() => undefined);
    const old = await bus.jetstream().views.kv(LEASE_BUCKET, { ttl: 3_600_000, history: 1 });
    await old.put("partition.9", JSON.stringify({ holder: "old" }));
    expect((await table.read()).partitions.get(9)?.holder).toBe("old");
    expect((await streams.info(`KV_${LEASE_BUCKET}`)).config.max_age).toBe(0);
    expect(await table.beat("c", { counter: 1, leaving: false })).toBe(true);
    await table.leave("c");
    await until(async () => !(await table.read()).hosts.has("c"), "c to be gone");
  });

  it("loses a host's name to another process, and says so", async () => {
    expect(await table.beat("b", { counter: 1, leaving: false })).toBe(true);
    const other = new KvLeaseTable(bus, systemRuntime);
    expect(await other.beat("b", { counter: 1, leaving: false })).toBe(true);
    expect(await table.beat("b", { counter: 2, leaving: false })).toBe(false);
    other.stop();
  });

  it("outlives a watch that its servers cannot make anew", async () => {
    const lease = { counter: 1, leaving: false };
    expect(await table.beat("d", lease)).toBe(true);
    const { streams, consumers } = await bus.jetstreamManager();
    const bucket = `KV_${LEASE_BUCKET}`;
    const watches = await consumers.list(bucket).next();
    await streams.delete(bucket);
    // A sign of more than was heard has the watch made anew, of what is not there any more.
    const sign = headers(100, "Idle Heartbeat");
    sign.set("Nats-Last-Consumer", "99");
    for (const { config } of watches) {
      if (config.deliver_subject) bus.publish(config.deliver_subject, "", { headers: sign });
    }
    await bus.flush();
    const isBack = async () =>
      (await table.beat("d", lease)) && (await table.read()).hosts.has("d");
    await until(() => isBack().catch(() => false), "the host to be seen again");
    await table.leave("d");
  });

  it("tells nothing while it does not hear what it wrote itself, and listens anew", async () => {
    const watcher = new KvLeaseTable(bus, systemRuntime);
    expect(await watcher.take(1, "a", 0)).toBe(true);
    const holders = async () => {
      const { partitions } = await watcher.read();
      return [1, 2, 3].map((partition) => partitions.get(partition)?.holder);
    };
    // The server forgets the watch, as one that was killed does; writes go on.
    const { consumers } = await bus.jetstreamManager();
    const bucket = `KV_${LEASE_BUCKET}`;
    for await (const { name } of consumers.list(bucket)) await consumers.delete(bucket, name);
    expect(await table.take(2, "b", 0)).toBe(true);
    expect(await watcher.take(3, "a", 0)).toBe(true);
    await until(async () => (await codeOf(watcher.read())) === "unavailable", "it to be deaf");
    await until(async () => (await codeOf(watcher.read())) === "none", "it to hear again");
    expect(await holders()).toEqual(["a", "b", "a"]);
    watcher.stop();
  });
});
