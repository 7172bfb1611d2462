import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { withTimeout } from "../../../src/base/deferred.ts";
import { WorkerClient } from "../../../src/inference/worker-client.ts";
import { scrapeQueues } from "../../support/scraped-metrics.ts";
import { TranscribeProbe } from "../../support/transcribe-probe.ts";
import { until } from "../../support/until.ts";
import { WORKER_KEY } from "../../support/worker-key.ts";

const MAIN = fileURLToPath(new URL("../../../workers/main.ts", import.meta.url));

let children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
});

function start(env: Record<string, string>): ChildProcess {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH, ALLOW_ROOT: "1", ...env },
    stdio: "pipe",
  });
  children.push(child);
  return child;
}

async function readErrors(child: ChildProcess): Promise<string> {
  let text = "";
  child.stderr?.on("data", (data) => {
    text += String(data);
  });
  await once(child, "close");
  return text;
}

async function readReady(
  child: ChildProcess,
): Promise<{ grpc_worker: string; worker_id: string; ops_url: string }> {
  if (child.stdout === null) throw new Error("The worker has no stdout.");
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line);
    if (entry.event === "ready") return entry;
  }
  throw new Error("The worker ended before it was ready.");
}

describe("worker process", () => {
  it("names every wrong setting and exits with 2", async () => {
    const child = start({ WORKER_PORT: "x", WORKER_THREADS: "0" });
    const errors = await readErrors(child);
    expect(child.exitCode).toBe(2);
    expect(errors).toContain("WORKER_PORT");
    expect(errors).toContain("WORKER_THREADS");
  });

  it("does not start without a key, and says what to set", async () => {
    const child = start({ WORKER_THREADS: "1" });
    const errors = await readErrors(child);
    expect(child.exitCode).toBe(2);
    expect(errors).toMatch(/^WORKER_KEY is not set: give the same to the service and all workers/);
  });

  it("says ready, serves, ends open streams on SIGTERM and exits with 0", async () => {
    const env = {
      WORKER_ID: "w-7",
      WORKER_KEY,
      WORKER_THREADS: "1",
      WORKER_OPS_PORT: "0",
    };
    const child = start(env);
    const ready = await withTimeout(readReady(child), 40_000, "The start of the worker");
    expect(ready).toMatchObject({
      worker_id: "w-7",
      grpc_worker: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    });
    const client = new WorkerClient();
    const probe = new TranscribeProbe(
      client.openTranscription(ready.grpc_worker, { key: WORKER_KEY }),
    );
    probe.open();
    await probe.until("opened");
    const { queues, text } = await scrapeQueues(ready.ops_url);
    expect([...queues.keys()].sort()).toEqual([
      "audio_samples",
      "graphs",
      "inference",
      "results",
      "sessions",
      "texts",
      "thread_requests",
      "worker_connections",
    ]);
    expect(queues.get("sessions")).toEqual({ length: 1, limit: 4 });
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
    const health = async (path: string) => {
      const answer = await fetch(`${ready.ops_url}/health/${path}`);
      return [answer.status, await answer.json()];
    };
    expect(await health("live")).toEqual([200, { status: "ok" }]);
    const unknown = "NATS does not know this worker; it serves only who has its address.";
    const checks = { threads: { status: "ok" }, nats: { status: "degraded", message: unknown } };
    const standing = { status: "degraded", version: expect.any(String), checks };
    expect(await health("ready")).toEqual([200, standing]);
    expect((await health("nothing"))[0]).toBe(404);
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await until(async () => (await health("ready"))[0] === 503, "it to be no longer ready");
    expect(await health("ready")).toMatchObject([503, { message: "The worker is stopping." }]);
    expect((await probe.end())?.code).toBe("unavailable");
    await withTimeout(exit, 9_500, "The end of the worker");
    expect(child.exitCode).toBe(0);
    client.close();
  }, 60_000);
});
