import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { BenchFixture } from "./bench-fixture.ts";
import { ChildTask } from "./child-task.ts";
import type { LoadQuestion, LoadResult, UploadingDevice } from "./http-load.ts";
import { cpuSeconds, treeCpuSeconds } from "./process-cpu.ts";
import { profileFlags } from "./profile-flags.ts";
import { interleave, medianRatio } from "./rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

const DEVICES = 20;
/** A tenth of a second of silence, and half a second of it. */
const CHUNK_BYTES = [3_200, 16_000];
const MARK = 0.8;
const run = promisify(execFile);

/**
 * Chunks that are fsynced, committed and answered, against as many commits of one row. The commands
 * stay in the outbox, where nobody takes them: what actors and recognition cost is not in it.
 */
export async function measureUploads(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  const load = new ChildTask("http-load.ts");
  const main = await fixture.startMain("front", profileFlags());
  try {
    const devices = await addDevices(fixture, main.port);
    await fixture.owner.query("create table bench_rows (id bigserial primary key, text text)");
    const peer = await commitsByPgbench(fixture);
    const meters = { service: main.pid, database: await fixture.postgresPid() };
    const rows: BenchRow[] = [];
    for (const bytes of CHUNK_BYTES) {
      const question: Question = { kind: "upload", port: main.port, devices, bytes };
      rows.push(await measureSize(scale, load, question, peer, meters));
    }
    return rows;
  } finally {
    await load.stop();
    await main.stop();
    await fixture.close();
  }
}

type Question = Omit<Extract<LoadQuestion, { kind: "upload" }>, "ms">;

async function measureSize(
  scale: BenchScale,
  load: ChildTask,
  question: Question,
  peer: Commits,
  meters: Meters,
): Promise<BenchRow> {
  const tails: number[] = [];
  const cost = { service: 0, database: 0, chunks: 0 };
  const ms = scale.roundMs * 2;
  const figures = await interleave(scale.rounds, {
    ours: async () => {
      const before = read(meters);
      const { perSecond, p99 } = await load.ask<LoadResult>({ ...question, ms });
      const after = read(meters);
      cost.service += after.service - before.service;
      cost.database += after.database - before.database;
      cost.chunks += (perSecond * ms) / 1000;
      tails.push(p99);
      return perSecond;
    },
    peer: () => peer.run(ms),
  });
  const each = (seconds: number) => `${Math.round((seconds * 1e6) / cost.chunks)} us`;
  const ratio = medianRatio(figures.ours, figures.peer);
  return {
    figure: `durable uploads of 20 devices, ${question.bytes} bytes each`,
    unit: "chunks/s",
    ours: median(figures.ours),
    peer: { name: peer.name, value: median(figures.peer) },
    ratio,
    mark: `>= ${MARK}x`,
    met: ratio >= MARK,
    detail: `raw PCM, one chunk under way for each device; p99 ${median(tails).toFixed(1)} ms; CPU of each: our process ${each(cost.service)}, PostgreSQL ${each(cost.database)}; the peer commits one row with 20 clients on the same server`,
  };
}

/** Processes whose time is looked at. */
interface Meters {
  service: number;
  database: number;
}

function read({ service, database }: Meters): Meters {
  return { service: cpuSeconds(service), database: treeCpuSeconds(database) };
}

interface Commits {
  name: string;
  /** Commits per second. */
  run(ms: number): Promise<number>;
}

/** `pgbench` where it is installed, else as many clients of `pg`. */
async function commitsByPgbench(fixture: BenchFixture): Promise<Commits> {
  const script = join(fixture.folder, "commit.sql");
  writeFileSync(script, "insert into bench_rows (text) values ('one row, one commit');\n");
  const commits = async (ms: number) => {
    const seconds = String(Math.max(1, Math.round(ms / 1000)));
    const flags = ["-n", "-M", "prepared", "-c", String(DEVICES), "-j", "1", "-T", seconds];
    const args = [...flags, "-f", script, fixture.database.ownerUrl];
    const { stdout } = await run("pgbench", args, { timeout: 60_000 });
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  };
  const installed = await run("pgbench", ["--version"]).then(
    () => true,
    () => false,
  );
  if (installed) return { name: "pgbench", run: commits };
  return { name: "pg, a row per commit", run: (ms) => commitsByClients(fixture, ms) };
}

async function commitsByClients(fixture: BenchFixture, ms: number): Promise<number> {
  const text = "insert into bench_rows (text) values ($1)";
  const start = performance.now();
  let commits = 0;
  const clients = Array.from({ length: DEVICES }, async () => {
    const client = new pg.Client({ connectionString: fixture.database.ownerUrl });
    await client.connect();
    while (performance.now() - start < ms) {
      await client.query({ name: "commit", text, values: ["one row, one commit"] });
      commits += 1;
    }
    await client.end();
  });
  await Promise.all(clients);
  return (commits * 1000) / (performance.now() - start);
}

/** Each with a session that records. */
async function addDevices(fixture: BenchFixture, port: number): Promise<UploadingDevice[]> {
  const owner = await fixture.addUser();
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  const devices: UploadingDevice[] = [];
  for (let count = 0; count < DEVICES; count += 1) {
    const authorization = `Bearer ${owner.token}`;
    const wish = { workspace_id: owner.workspaceId, name: `Device ${count}` };
    const { device_id, api_key: key = "" } = await post("/devices", { authorization }, wish);
    const started = await post(`/devices/${device_id}/session/start`, { "x-api-key": key }, {});
    devices.push({ key, sessionId: started.session_id ?? "" });
  }
  return devices;
}
