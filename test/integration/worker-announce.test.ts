import { connect } from "nats";
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import { followWorkers } from "../../src/nats/connect.ts";
import { NatsMessageBus } from "../../src/nats/message-bus.ts";
import { WORKER_ANNOUNCE_SUBJECT } from "../../src/wire/subjects.ts";
import {
  encodeWorkerAnnouncement,
  fingerprintOfKey,
  tryWorkerAnnouncement,
  type WorkerAnnouncement,
} from "../../src/wire/worker-announcement.ts";
import { parseWorkerSettings } from "../../workers/settings.ts";
import { startWorker } from "../../workers/worker.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { TranscribeProbe } from "../support/transcribe-probe.ts";
import { WORKER_KEY } from "../support/worker-key.ts";

const ENTRY = new URL("../support/scripted-thread-entry.ts", import.meta.url);
const LONG = { timeout: 15_000 };

/** Of a worker of an older release that wants no key, or of somebody who wants to hear. */
const OPEN_TO_ALL: WorkerAnnouncement = {
  worker_id: "open to all",
  address: "127.0.0.1:9",
  capacity: 4,
  sessions: 0,
  version: "0.0.0",
  engines: ["scripted"],
  draining: false,
};

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function startOwnNats(): Promise<TestNats> {
  const nats = await startNats();
  cleanups.push(() => nats.stop());
  return nats;
}

async function listen({ url, token }: TestNats): Promise<WorkerAnnouncement[]> {
  const heard: WorkerAnnouncement[] = [];
  const connection = await connect({
    servers: url,
    token,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
  });
  cleanups.push(() => connection.close());
  connection.subscribe(WORKER_ANNOUNCE_SUBJECT, {
    callback: (_error, message) => {
      const announcement = tryWorkerAnnouncement(message.data);
      if (announcement !== undefined) heard.push(announcement);
    },
  });
  await connection.flush();
  return heard;
}

async function start({ url, token }: TestNats, more: Record<string, string> = {}) {
  const env = {
    NATS_URL: url,
    NATS_TOKEN: token,
    WORKER_ID: "w1",
    WORKER_THREADS: "1",
    WORKER_KEY,
    ...more,
  };
  const parsed = parseWorkerSettings(env, { workerId: "-", cores: 1 });
  if ("problems" in parsed) throw new Error(parsed.problems.join(" "));
  const { settings } = parsed;
  const worker = await startWorker({ settings, entry: ENTRY, version: "0.0.0", log: silentLog });
  cleanups.push(() => worker.stop());
  return worker;
}

describe("worker: announcements", () => {
  it("tell address and load, each change at once, and that it leaves", async () => {
    const nats = await startOwnNats();
    const heard = await listen(nats);
    const worker = await start(nats);
    await expect.poll(() => heard.length, LONG).toBeGreaterThan(0);
    expect(heard[0]).toEqual({
      worker_id: "w1",
      instance: expect.any(String),
      address: worker.address,
      capacity: 4,
      sessions: 0,
      version: "0.0.0",
      engines: ["scripted"],
      speech: [expect.objectContaining({ name: "scripted", local: true })],
      networks: { provider: "cpu" },
      key_fingerprint: fingerprintOfKey(WORKER_KEY),
      draining: false,
    });
    const client = new WorkerClient();
    cleanups.push(() => client.close());
    const probe = new TranscribeProbe(
      client.openTranscription(worker.address, { key: WORKER_KEY }),
    );
    probe.open();
    await expect.poll(() => heard.at(-1)?.sessions, LONG).toBe(1);
    probe.stream.cancel();
    await expect.poll(() => heard.at(-1)?.sessions, LONG).toBe(0);
    await worker.stop();
    await expect.poll(() => heard.at(-1)?.draining, LONG).toBe(true);
  });

  it("of one with another key or none are told in the log, and it gets no work", async () => {
    const nats = await startOwnNats();
    const connection = await connect({ servers: nats.url, token: nats.token });
    cleanups.push(() => connection.close());
    const placed: string[] = [];
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, text: string) => void warnings.push(text) };
    const key = "the key of this one";
    cleanups.push(
      followWorkers(new NatsMessageBus(connection), {
        key,
        log,
        refusalOf: () => undefined,
        onAnnouncement: ({ worker_id }) => void placed.push(worker_id),
      }),
    );
    await start(nats, { WORKER_ID: "stranger", WORKER_KEY: "the key of another" });
    await start(nats, { WORKER_ID: "ours", WORKER_KEY: key });
    connection.publish(WORKER_ANNOUNCE_SUBJECT, encodeWorkerAnnouncement(OPEN_TO_ALL));
    await expect.poll(() => new Set(placed), LONG).toEqual(new Set(["ours"]));
    await expect.poll(() => warnings.sort(), LONG).toHaveLength(2);
    expect(warnings[0]).toMatch(/worker open to all at .* has another WORKER_KEY/);
    expect(warnings[1]).toMatch(/worker stranger at .* has another WORKER_KEY/);
  });

  it("come back when NATS does, and the worker works meanwhile", async () => {
    const nats = await startOwnNats();
    const heard = await listen(nats);
    const worker = await start(nats);
    await expect.poll(() => heard.length, LONG).toBeGreaterThan(0);
    await nats.kill9();
    const client = new WorkerClient();
    cleanups.push(() => client.close());
    const probe = new TranscribeProbe(
      client.openTranscription(worker.address, { key: WORKER_KEY }),
    );
    probe.open();
    await probe.until("opened");
    heard.length = 0;
    await nats.restart();
    await expect.poll(() => heard.at(-1)?.sessions, LONG).toBe(1);
    probe.stream.cancel();
  }, 30_000);

  it("begin when NATS comes later than the worker", async () => {
    const nats = await startOwnNats();
    await nats.kill9();
    await start(nats);
    await nats.restart();
    const heard = await listen(nats);
    await expect.poll(() => heard.length, LONG).toBeGreaterThan(0);
  }, 30_000);
});
