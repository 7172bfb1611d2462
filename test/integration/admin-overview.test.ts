import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WorkerRecord } from "../../src/actor/overview-source.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { PARTITIONS } from "../../src/base/partition.ts";
import { overviewRoutes } from "../../src/conversations/admin/overview.ts";
import { OverviewStore } from "../../src/conversations/admin/overview-store.ts";
import { PostgresLeaseTable, PostgresNodeRegister } from "../../src/postgres/lease-store.ts";
import type { Route } from "../../src/rest/route.ts";
import { makeWav } from "../support/make-wav.ts";
import { callRoute, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const LEASE_MS = 1_500;

describe("overview", () => {
  let fixture: SessionFixture;
  let routes: Route[];
  let register = { nodes: async () => [] } as Parameters<typeof overviewRoutes>[0]["register"];
  const workers: WorkerRecord[] = [];

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    routes = overviewRoutes({
      overview: new OverviewStore(fixture.pool),
      register: { nodes: () => register.nodes() },
      workers: () => workers,
      leaseMs: LEASE_MS,
      warnings: ["fsync is off"],
      clock: fixture.clock,
    });
  });
  afterAll(() => fixture.close());

  async function read() {
    const principal = await fixture.user("admin");
    return jsonBody(await callRoute(routes, "getOverview", { principal }));
  }

  it("overview: of a service at rest", async () => {
    expect(await read()).toEqual({
      warnings: ["fsync is off"],
      failed_sign_ins: { this_hour: 0, accounts: 0 },
      at: expect.any(String),
      nodes: [],
      workers: [],
      queues: {
        outbox: { count: 0 },
        parked: { count: 0, session_ids: [] },
        jobs: [
          { kind: "transcription", queued: 0, running: 0 },
          { kind: "summarisation", queued: 0, running: 0 },
        ],
        chunks_pending: 0,
        webhook_deliveries_due: 0,
      },
      sessions: {
        by_status: { recording: 0, processing: 0, completed: 0, failed: 0, deleted: 0 },
        live: [],
      },
    });
  });

  it("overview: what records, what waits; no titles", async () => {
    const { device } = await fixture.ownDevice();
    const sessionId = await fixture.start(device, { title: "Merger talks" });
    await fixture.upload(device, sessionId, 0, makeWav({ frames: 160 }));
    const other = await fixture.ownDevice();
    await fixture.start(other.device);
    await fixture.stop(other.device);
    await fixture.sql(
      `with hook as (
         insert into webhooks (id, workspace_id, url, secret)
         values ($1, $2, 'https://example.org', '') returning id)
       insert into webhook_deliveries (webhook_id, id, event_type, data, occurred_at)
       select id, $3, 'session.started', '{}', now() from hook`,
      [newId(), device.workspaceId, newId()],
    );
    const body = await read();
    expect(body).toMatchObject({
      queues: {
        outbox: { count: 4, oldest_age_ms: expect.any(Number) },
        jobs: [{ kind: "transcription", queued: 2, running: 0 }, { kind: "summarisation" }],
        chunks_pending: 1,
        webhook_deliveries_due: 1,
      },
      sessions: {
        by_status: { recording: 1, processing: 1 },
        live: [
          {
            id: sessionId,
            workspace_id: device.workspaceId,
            seq: 0,
            started_at: expect.any(String),
            pending_chunks: 1,
            lag_ms: expect.any(Number),
          },
        ],
      },
    });
    expect(JSON.stringify(body)).not.toContain("Merger");
  });

  it("overview: workers as they were heard, and nodes, silent ones too", async () => {
    const now = fixture.clock.now();
    const everyPartition = Array.from({ length: PARTITIONS }, (_, n) => n);
    register = {
      nodes: async () => [
        { name: "one", lastSeenAt: now - 100, leaving: false, partitions: everyPartition },
        { name: "two", lastSeenAt: now - LEASE_MS, leaving: false, partitions: [] },
        { name: "three", lastSeenAt: now, leaving: true, partitions: [] },
      ],
    };
    const worker = {
      worker_id: "w",
      address: "127.0.0.1:9",
      version: "1",
      engines: ["moonshine-tiny-en"],
      state: "full",
      sessions: 2,
      capacity: 2,
      silent_ms: 10,
      networks: { provider: "cpu", reason: "There is no cuda." },
    } as const;
    workers.push({ ...worker, engines: [...worker.engines] });
    expect(await read()).toMatchObject({
      nodes: [
        { name: "one", state: "alive", partitions: everyPartition, sessions: 2 },
        { name: "two", state: "silent", partitions: [], sessions: 0 },
        { name: "three", state: "leaving" },
      ],
      workers: [worker],
      sessions: { live: [{ node: "one" }] },
    });
    register = { nodes: () => Promise.reject(new AppError("unavailable", "away")) };
    expect(await read()).not.toHaveProperty("nodes");
  });
});

describe("nodes by their leases", () => {
  let fixture: SessionFixture;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  it("nodes: with the partitions that they hold, and when they were last seen", async () => {
    const register = new PostgresNodeRegister(fixture.pool);
    const tables = new Map(
      ["a", "b", "gone"].map((host) => [host, new PostgresLeaseTable(fixture.pool, host)]),
    );
    const before = Date.now();
    for (const host of ["b", "a"]) await tables.get(host)?.poll({ counter: 1, leaving: false });
    const wanted = (partitions: number[]) =>
      partitions.map((partition) => ({ partition, revision: 1 }));
    await tables.get("b")?.take(wanted([7, 3]));
    await tables.get("gone")?.take(wanted([5]));
    const nodes = await register.nodes();
    expect(nodes).toEqual([
      { name: "a", lastSeenAt: expect.any(Number), leaving: false, partitions: [] },
      { name: "b", lastSeenAt: expect.any(Number), leaving: false, partitions: [3, 7] },
    ]);
    expect(nodes[0]?.lastSeenAt).toBeGreaterThan(before - 5_000);
    await tables.get("a")?.forget(["a"]);
    expect((await register.nodes()).map(({ name }) => name)).toEqual(["b"]);
  });
});
