import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { TestAuthority } from "../support/test-certificates.ts";
import { TranscribeProbe } from "../support/transcribe-probe.ts";
import { until } from "../support/until.ts";

const ENTRY = new URL("../support/scripted-thread-entry.ts", import.meta.url);
const KEY = "a-service-key-of-this-test";
const SECOND = 16_000;
const PATIENCE = 20_000;

let folder: string;
let ours: TestAuthority;
let strange: TestAuthority;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "voice-worker-tls-"));
  ours = await TestAuthority.make(folder);
  strange = await TestAuthority.make(folder, "strange");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

/** Starts a worker; it tells what keys it was shown. */
async function startWorker(tls: TlsFiles | undefined): Promise<string> {
  const pool = new ThreadPool({
    threads: 1,
    sessionsPerThread: 4,
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
    tls,
    pool,
    log: silentLog,
  });
  const address = `127.0.0.1:${await server.start()}`;
  cleanups.push(() => server.stop(0));
  return address;
}

function clientWith(tls: TlsFiles | undefined): WorkerClient {
  const client = new WorkerClient({ tls });
  cleanups.push(() => client.close());
  return client;
}

function describeWorker(address: string, tls: TlsFiles | undefined) {
  return clientWith(tls).describe(address, PATIENCE, { key: KEY });
}

describe("a worker that speaks TLS", () => {
  it("serves a main process of our authority", async () => {
    const address = await startWorker(await ours.issue("worker"));
    const told = await describeWorker(address, await ours.issue("main"));
    expect(told.workerId).toBe("test-worker");
  });

  it("serves nobody in clear, though he has the key", async () => {
    const address = await startWorker(await ours.issue("worker"));
    await expect(describeWorker(address, undefined)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("serves nobody whose certificate is of another authority", async () => {
    const address = await startWorker(await ours.issue("worker"));
    const stranger = { ...(await strange.issue("main", "strange-main")), ca: ours.ca };
    await expect(describeWorker(address, stranger)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("serves no other worker and no nats-server, though the authority is ours", async () => {
    const address = await startWorker(await ours.issue("worker"));
    for (const kind of ["worker", "nats"] as const) {
      const files = await ours.issue(kind, `calling-${kind}`);
      await expect(describeWorker(address, files)).rejects.toMatchObject({ code: "forbidden" });
    }
  });

  it("serves nobody whose certificate is over", async () => {
    const address = await startWorker(await ours.issue("worker"));
    const over = await ours.issue("main", "over", -60_000);
    await expect(describeWorker(address, over)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("a main process that calls workers over TLS", () => {
  it("sends neither key nor audio to who announced himself with other papers", async () => {
    const main = await ours.issue("main");
    const impostors = [
      undefined,
      { ...(await strange.issue("worker", "strange-worker")), ca: ours.ca },
      await ours.issue("main", "not-a-worker"),
      await ours.issue("nats", "not-a-worker-either"),
    ];
    for (const papers of impostors) {
      const address = await startWorker(papers);
      await expect(describeWorker(address, main)).rejects.toMatchObject({ code: "unavailable" });
    }
  });
});

describe("certificates between processes that are renewed", () => {
  it("count for new connections while a transcription goes on over an old one", async () => {
    const worker = { ...(await ours.issue("worker", "renewed-worker")), lookMs: 20 };
    const main = { ...(await ours.issue("main", "renewed-main")), lookMs: 20 };
    const address = await startWorker(worker);
    const client = clientWith(main);
    const probe = new TranscribeProbe(client.openTranscription(address, { key: KEY }));
    probe.open();
    await probe.until("opened");
    // Another authority altogether: nothing of the old files opens a connection any more.
    const next = await TestAuthority.make(folder);
    await next.issue("worker", "renewed-worker");
    await next.issue("main", "renewed-main");
    const fresh = await next.issue("main", "fresh-main");
    await until(
      () =>
        describeWorker(address, fresh).then(
          () => true,
          () => false,
        ),
      "the worker's new certificate",
    );
    probe.chunk(0, 0, SECOND, "test/audio");
    probe.finish();
    expect(await probe.end()).toBeUndefined();
    const other = await startWorker(await next.issue("worker", "other-worker"));
    expect((await client.describe(other, PATIENCE, { key: KEY })).workerId).toBe("test-worker");
  });
});
