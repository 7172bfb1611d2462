import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { Placement } from "../../src/inference/placement.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import { WorkerEntities } from "../../src/inference/worker-entities.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { codeOf } from "../support/route-call.ts";

const ENTRY = new URL("../support/scripted-thread-entry.ts", import.meta.url);
const KEY = "a-service-key-of-this-test";

const WORDS = "i will write to the team in berlin".split(" ");
const SEGMENT = {
  label: "S1",
  start: 0,
  end: 32_000,
  words: WORDS.map((text, n) => ({ text, start: n * 4_000, end: (n + 1) * 4_000 })),
};
const SPEAKERS = [{ label: "S1", name: "Anna" }];

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function startWorker() {
  const pool = new ThreadPool({
    threads: 1,
    sessionsPerThread: 1,
    entry: ENTRY,
    clock: systemClock,
    log: silentLog,
  });
  await pool.start();
  cleanups.push(() => pool.stop());
  const server = new WorkerServer({
    workerId: "test-worker",
    version: "0.0.0",
    host: "127.0.0.1",
    port: 0,
    key: KEY,
    pool,
    log: silentLog,
  });
  const address = `127.0.0.1:${await server.start()}`;
  cleanups.push(() => server.stop(0));
  const placement = new Placement({ runtime: systemRuntime, silenceMs: 60_000 });
  placement.update({
    worker_id: "test-worker",
    address,
    // Full of sessions: it can make graphs all the same.
    capacity: 1,
    sessions: 1,
    version: "0.0.0",
    engines: [],
    draining: false,
  });
  return { placement, pool };
}

function connect(placement: Placement, options: { key?: string; deadlineMs?: number } = {}) {
  const { key = KEY, ...rest } = options;
  const client = new WorkerEntities({ placement, client: new WorkerClient(), key, ...rest });
  cleanups.push(() => client.close());
  return client;
}

function spoken(sessionId: string) {
  return { sessionId, language: "en", segments: [SEGMENT], speakers: SPEAKERS };
}

describe("graph worker", () => {
  it("answers with entities, mentions and links over gRPC", async () => {
    const { placement } = await startWorker();
    const graph = await connect(placement).extract(spoken("session"));
    expect(graph.entities).toMatchObject([
      { name: "Anna", type: "speaker", labels: ["S1"] },
      { name: "team", type: "topic" },
      { name: "berlin", type: "place" },
    ]);
    expect(graph.mentions).toContainEqual({
      entity: 2,
      segment: 0,
      start: 28_000,
      end: 32_000,
      spoke: false,
    });
    expect(graph.links).toContainEqual({
      source: 0,
      target: 1,
      kind: "action",
      label: "write to",
      weight: 1,
      segment: 0,
    });
  });

  it("refuses who does not know its key", async () => {
    const { placement } = await startWorker();
    const client = connect(placement, { key: "another-key-altogether" });
    expect(await codeOf(client.extract(spoken("session")))).toBe("unauthorized");
  });

  it("without a worker says so at once", async () => {
    const placement = new Placement({ runtime: systemRuntime });
    const client = connect(placement);
    expect(await codeOf(client.extract(spoken("session")))).toBe("unavailable");
  });

  it("ends with its time, and the thread is free again", async () => {
    const { placement, pool } = await startWorker();
    const long = { ...spoken("long"), segments: Array.from({ length: 5_000 }, () => SEGMENT) };
    const hasty = connect(placement, { deadlineMs: 500 });
    expect(await codeOf(hasty.extract(long))).toBe("timeout");
    await expect.poll(() => pool.texts, { timeout: 20_000 }).toBe(0);
    expect(await codeOf(connect(placement).extract(spoken("fine")))).toBe("none");
  });

  it("refuses what is no request, and goes on", async () => {
    const { pool } = await startWorker();
    const work = {
      ...({ task: "extractEntities", request: Uint8Array.of(255, 255, 255) } as const),
      ...{ onMessage: () => {}, signal: new AbortController().signal },
    };
    expect(await codeOf(pool.text(work))).toBe("bad_request");
    expect(pool.texts).toBe(0);
  });
});
