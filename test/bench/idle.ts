import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DATABASE, postgresUrl, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { delay } from "../../src/base/deferred.ts";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { type IdleCost, IdleMeter, launcherOf } from "./idle-meter.ts";
import { profiled } from "./process-profile.ts";
import type { BenchRow, BenchScale } from "./row.ts";

/** After the start nothing is at rest yet: caches fill, tables are analysed, heaps are collected. */
const SETTLE_MS = 60_000;
const SECONDS = 60;
const BEAT_MS = 10_000;
const THREADS = 2;
const CHUNK_SECONDS = 5;
const CHUNKS = 6;
const CPU_MARK = 0.5;
const MEMORY_MARK = 300;
const SHOWN = 24;

/**
 * What a whole installation, started as `npm run up` starts it, costs while nobody uses it, and what
 * its worker holds. First with no session at all, then with two that are complete, of which one is
 * watched while its device beats.
 */
export async function measureIdle(scale: BenchScale): Promise<BenchRow[]> {
  const seconds = Math.max(10, SECONDS * scale.size);
  const settle = Math.max(20_000, SETTLE_MS * scale.size);
  const service = await WholeService.start({ WORKER_THREADS: String(THREADS) });
  const rows: BenchRow[] = [];
  try {
    const meter = await openMeter(service);
    await delay(settle);
    const main = service.ready.pids.main;
    const empty = await profiled(main, "main-at-rest", () => meter.measure(seconds));
    rows.push(costRow("with no session", empty), memoryRow(meter, "at rest"));
    const { device, most } = await record(service, meter);
    rows.push(memoryRow(meter, `while ${THREADS} sessions are read`, most));
    const end = await beWatched(service, device);
    await delay(settle);
    rows.push(costRow("with a watched session that is over", await meter.measure(seconds)));
    rows.push(memoryRow(meter, "at rest after these"));
    end();
    await meter.close();
  } finally {
    await service.stop();
  }
  return rows;
}

/** With PostgreSQL started anew, so that it counts statements. */
async function openMeter(service: WholeService): Promise<IdleMeter> {
  const adminUrl = adminUrlOf(service);
  await withClient(adminUrl, (client) =>
    client.query("alter system set shared_preload_libraries = 'pg_stat_statements'"),
  );
  const before = service.signal("postgres", "SIGINT");
  await service.replaced("postgres", before);
  await until(() => isServing(service), "the service to be whole again", 60_000);
  const { supervisor, pids } = service.ready;
  const launcher = launcherOf(supervisor);
  const parts = { ...pids, supervisor, ...(launcher !== undefined && { launcher }) };
  return IdleMeter.open(adminUrl, parts);
}

function adminUrlOf({ folder }: WholeService): string {
  const secrets = JSON.parse(readFileSync(join(folder, "data/secrets.json"), "utf8"));
  const { postgres } = JSON.parse(readFileSync(join(folder, "data/ports.json"), "utf8"));
  return postgresUrl("postgres", secrets.postgresPassword, postgres, DATABASE);
}

async function isServing({ api }: WholeService): Promise<boolean> {
  const answer = await fetch(`${api}/health`).catch(() => undefined);
  return answer?.ok === true;
}

/** As many sessions at once as there are threads; returns the device of the first. */
async function record(
  service: WholeService,
  meter: IdleMeter,
): Promise<{ device: PairedDevice; most: { pss: number; rss: number } }> {
  const pieces = cut(CHUNK_SECONDS).slice(0, CHUNKS);
  const devices: PairedDevice[] = [];
  for (let n = 0; n < THREADS; n += 1) devices.push(await PairedDevice.pair(service));
  let most = { pss: 0, rss: 0 };
  const watch = setInterval(() => {
    const now = meter.memory("worker");
    if (now.pss > most.pss) most = now;
  }, 200);
  await Promise.all(
    devices.map(async (device) => {
      await device.start();
      for (const [sequence, piece] of pieces.entries()) await device.upload(sequence, piece);
      await device.stop(pieces.length - 1);
      await device.completed();
    }),
  );
  clearInterval(watch);
  const [device] = devices;
  if (device === undefined) throw new Error("No device was paired.");
  return { device, most };
}

/** Follows the device's session and lets the device beat until the function returned is called. */
async function beWatched(service: WholeService, device: PairedDevice): Promise<() => void> {
  const headers = { authorization: `Bearer ${device.token}` };
  const viewer = await new Viewer(service.ready.live_url, headers).opened();
  viewer.send({ type: "Subscribe", session_id: device.sessionId });
  await viewer.received("Snapshot");
  const beat = () =>
    call(service.api, "POST", `/devices/${device.id}/heartbeat`, { key: device.key, body: {} });
  await beat();
  const beats = setInterval(() => void beat().catch(() => {}), BEAT_MS);
  return () => {
    clearInterval(beats);
    viewer.socket.close();
  };
}

function costRow(when: string, { cpuPercent, parts, statements, byStatement }: IdleCost): BenchRow {
  const each = parts.map(
    ({ part, cpuPercent: cpu, wakes, pss, rss }) =>
      `${part} ${cpu.toFixed(2)} % ${wakes.toFixed(0)} wakes/s PSS ${pss.toFixed(0)} RSS ${rss.toFixed(0)} MB`,
  );
  const asked = byStatement
    .slice(0, SHOWN)
    .map(({ text, perSecond }) => `${perSecond.toFixed(2)}/s ${text.slice(0, 110)}`);
  return {
    figure: `an installation at rest, ${when}`,
    unit: "% of a core",
    ours: cpuPercent,
    mark: `<= ${CPU_MARK} %`,
    met: cpuPercent <= CPU_MARK,
    detail: [...each, `${statements.toFixed(2)} statements/s`, ...asked].join("; "),
  };
}

function memoryRow(
  meter: IdleMeter,
  when: string,
  { pss, rss } = meter.memory("worker"),
): BenchRow {
  return {
    figure: `worker of ${THREADS} threads, ${when}`,
    unit: "MB",
    ours: pss,
    mark: `<= ${MEMORY_MARK} MB`,
    met: pss <= MEMORY_MARK,
    detail: `PSS; RSS ${rss.toFixed(0)} MB`,
  };
}
