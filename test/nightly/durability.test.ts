import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { WORKER_KEY } from "../support/worker-key.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** The tests' own server has fsync and synchronous_commit off, for speed. */
describe("a database that is not durable", () => {
  let database: TestDatabase;
  let folder: string;
  const children: ChildProcess[] = [];
  // Both at once: most of the time goes into starting.
  let refused: ReturnType<typeof start>;
  let meant: ReturnType<typeof start>;

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = mkdtempSync(join(tmpdir(), "voice-durability-"));
    await loadKeyFolder(join(folder, "keys"));
    refused = start({});
    meant = start({ ALLOW_UNSAFE_DATABASE: "1" });
  });
  afterAll(async () => {
    for (const child of children) {
      if (child.exitCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(settings: Record<string, string>) {
    const { url, token } = inject("nats");
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(PROJECT, "src/main.ts")],
      {
        env: {
          PATH: process.env.PATH,
          ALLOW_ROOT: "1",
          ROLES: "front",
          DATABASE_URL: database.serviceUrl,
          NATS_URL: url,
          NATS_TOKEN: token,
          VOICE_BLOB_DIR: join(folder, "blobs"),
          VOICE_KEY_DIR: join(folder, "keys"),
          WORKER_KEY,
          PORT: "0",
          OPS_PORT: "0",
          GRPC_SESSIONS_PORT: "0",
          ...settings,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    children.push(child);
    const run = { child, output: "" };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        run.output += data.toString();
      });
    }
    return run;
  }

  it("durability: it is not started on, and told which setting, why and what to do", async () => {
    const run = refused;
    await until(() => run.child.exitCode !== null, "the end", 30_000);
    expect(run.child.exitCode).toBe(1);
    expect(run.output).toMatch(/fsync is off: a power failure can take what was stored/);
    expect(run.output).toMatch(/synchronous_commit is off: .*set where the server is started/);
    expect(run.output).toContain("ALLOW_UNSAFE_DATABASE=1");
    expect(run.output).not.toContain("full_page_writes is off");
  });

  it("durability: where that is meant it starts, and its log and health say it", async () => {
    const run = meant;
    await until(() => run.output.includes('"event":"ready"'), "ready", 30_000);
    const lines = run.output.split("\n").filter((line) => line.startsWith("{"));
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged.filter(({ msg }) => String(msg).includes("not durable"))).toHaveLength(1);
    const base = logged.find(({ event }) => event === "ready")?.base_url;
    const health = await (await fetch(`${base}/api/health`)).json();
    expect(health).toMatchObject({
      status: "degraded",
      checks: { database: { status: "degraded", message: expect.stringMatching(/fsync is off/) } },
    });
  });
});
