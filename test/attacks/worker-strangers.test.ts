import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import { WorkerTokens } from "../../src/wire/worker-token.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { RawGrpc } from "../support/raw-grpc.ts";
import { until } from "../support/until.ts";

const ENTRY = new URL("../support/scripted-thread-entry.ts", import.meta.url);
const KEY = "a-service-key-of-this-test";
const METHODS = [
  "/voice.v1.WorkerService/Describe",
  "/voice.v1.WorkerService/Transcribe",
  "/voice.v1.TextService/Summarise",
  "/voice.v1.RetrievalService/Retrieve",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.health.v1.Health/Check",
];
/** Almost the largest message that a worker takes. */
const HUGE = 60 * 1024 * 1024;

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function openRaw(): Promise<{ raw: RawGrpc; address: string }> {
  const pool = new ThreadPool({
    threads: 1,
    sessionsPerThread: 4,
    entry: ENTRY,
    clock: systemClock,
    log: silentLog,
    // A busy machine is no silent thread.
    silenceMs: 60_000,
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
    messageMs: 300,
  });
  const address = `127.0.0.1:${await server.start()}`;
  cleanups.push(() => server.stop(0));
  const raw = await RawGrpc.open(address);
  cleanups.push(() => raw.close());
  return { raw, address };
}

/** Sends half a message to each method; resolves to the statuses with which the calls ended. */
async function halfCalls(raw: RawGrpc, metadata: Record<string, string>): Promise<string[]> {
  const calls = METHODS.map((path) => {
    const call = raw.call(path, metadata);
    call.beginMessage(HUGE, 64 * 1024);
    return call;
  });
  await until(() => calls.every((call) => call.status !== undefined), "an end of each call");
  return calls.map((call) => call.status ?? "");
}

describe("strangers at a worker's port", () => {
  it("announce huge messages, and are answered before a byte of them is read", async () => {
    const { raw, address } = await openRaw();
    const tokens = new WorkerTokens(KEY, Date.now);
    const wrong = [
      undefined,
      // The key itself opens nothing: who overheard it in a caller of another release has no use of it.
      KEY,
      new WorkerTokens(`${KEY}x`, Date.now).for(address),
      // One that was meant for another worker, and one that was overheard some minutes ago.
      tokens.for("127.0.0.1:1"),
      new WorkerTokens(KEY, () => Date.now() - 600_000).for(address),
    ];
    const client = new WorkerClient();
    cleanups.push(() => client.close());
    // The worker goes by the newest token that it has seen.
    await client.describe(address, 10_000, { key: KEY });
    for (const told of wrong) {
      const metadata: Record<string, string> =
        told === undefined ? {} : { authorization: `Bearer ${told}` };
      const ended = await halfCalls(raw, metadata);
      expect(new Set(ended)).toEqual(new Set([String(status.UNAUTHENTICATED)]));
    }
  });

  it("who has the key and leaves a message half sent is not waited for", async () => {
    const { raw, address } = await openRaw();
    const token = new WorkerTokens(KEY, Date.now).for(address);
    const ended = await halfCalls(raw, { authorization: `Bearer ${token}` });
    expect(new Set(ended)).toEqual(new Set([String(status.DEADLINE_EXCEEDED)]));
  });
});
