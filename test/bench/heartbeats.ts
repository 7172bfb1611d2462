import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import pg from "pg";
import { newDeviceKey, secretHash } from "../../src/access/secrets.ts";
import { delay } from "../../src/base/deferred.ts";
import { newId } from "../../src/base/ids.ts";
import { WholeService } from "../support/whole-service.ts";
import type { DevicesTask, HeartbeatTransport } from "./heartbeat-devices.ts";
import type { DevicesReport } from "./heartbeat-tally.ts";
import { profiled } from "./process-profile.ts";

const CLIENT = resolve(import.meta.dirname, "heartbeat-devices.ts");
const TICKS_PER_SECOND = 100;

export interface HeartbeatOptions {
  devices: number;
  periodMs: number;
  /** Until every device is connected and known. */
  warmUpMs: number;
  measureMs: number;
}

export interface HeartbeatFigures extends DevicesReport {
  devices: number;
  sentPerSecond: number;
  /** Share of the devices whose row says, right after, that they were heard within two periods. */
  heard: number;
  /** Processor time of the service's process over the time that passed: 0.5 is half a core. */
  frontCores: number;
  /** The same of all processes of PostgreSQL. */
  databaseCores: number;
  /** The same of the process that plays the devices. */
  clientCores: number;
}

interface Stage {
  service: WholeService;
  database: pg.Client;
  devices: DevicesTask["devices"];
  options: HeartbeatOptions;
}

/** One after the other, over the same service. */
const TRANSPORTS = ["http", "socket"] as const;

/**
 * Devices that beat, each over a connection that it keeps, from a process of their own, against
 * the whole service: over REST, then over their WebSocket. One device in ten records.
 */
export async function measureHeartbeats(
  options: HeartbeatOptions = {
    devices: 10_000,
    periodMs: 2_000,
    warmUpMs: 12_000,
    measureMs: 20_000,
  },
): Promise<Record<HeartbeatTransport, HeartbeatFigures>> {
  const service = await WholeService.start({ RATE_LIMIT_FACTOR: "0" });
  const database = await connectTo(service);
  const figures = {} as Record<HeartbeatTransport, HeartbeatFigures>;
  try {
    const devices = await makeDevices(database, options.devices);
    const stage = { service, database, devices, options };
    for (const transport of TRANSPORTS) figures[transport] = await beatOver(transport, stage);
    return figures;
  } finally {
    await database.end();
    await service.stop();
  }
}

async function beatOver(transport: HeartbeatTransport, stage: Stage): Promise<HeartbeatFigures> {
  const { service, devices, options } = stage;
  const client = fork(CLIENT, { execArgv: ["--disable-warning=ExperimentalWarning"] });
  const gone = once(client, "exit");
  try {
    const { hostname: host, port } = new URL(service.ready.base_url);
    const { periodMs } = options;
    const task: DevicesTask = { host, port: Number(port), transport, periodMs, devices };
    client.send(task);
    await delay(options.warmUpMs);
    return await profiled(service.ready.pids.main, transport, () => measure(stage, client));
  } finally {
    client.disconnect();
    await gone;
  }
}

async function measure(stage: Stage, client: ChildProcess): Promise<HeartbeatFigures> {
  const { service, devices, options } = stage;
  const { main, postgres } = service.ready.pids;
  await report(client);
  const before = { at: performance.now(), ...spent(main, postgres, client) };
  await delay(options.measureMs);
  const after = { at: performance.now(), ...spent(main, postgres, client) };
  const tally = await report(client);
  const seconds = (after.at - before.at) / 1_000;
  return {
    ...tally,
    devices: devices.length,
    heard: await shareHeard(stage),
    sentPerSecond: tally.sent / seconds,
    frontCores: (after.front - before.front) / seconds,
    databaseCores: (after.database - before.database) / seconds,
    clientCores: (after.client - before.client) / seconds,
  };
}

/** A heartbeat is written within a second or so, so that two periods and that are looked back. */
async function shareHeard({ database, devices, options }: Stage): Promise<number> {
  const { rows } = await database.query<{ heard: number }>(
    `select count(*)::float8 as heard from devices
     where serial = 'bench' and last_seen_at > now() - make_interval(secs => $1)`,
    [(2 * options.periodMs + 1_500) / 1_000],
  );
  return (rows[0]?.heard ?? 0) / devices.length;
}

function spent(main: number, postgres: number, client: ChildProcess) {
  const backends = readdirSync("/proc").filter(
    (pid) => /^\d+$/.test(pid) && statOf(pid)?.parent === postgres,
  );
  const database = [String(postgres), ...backends].map((pid) => statOf(pid)?.seconds ?? 0);
  return {
    front: statOf(String(main))?.seconds ?? 0,
    client: statOf(String(client.pid))?.seconds ?? 0,
    database: database.reduce((sum, each) => sum + each, 0),
  };
}

/** Processor seconds of a process with all of its threads; undefined when it is gone. */
function statOf(pid: string): { parent: number; seconds: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The name in brackets may hold spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return { parent: Number(fields[1]), seconds };
}

async function report(client: ChildProcess): Promise<DevicesReport> {
  const told = once(client, "message");
  client.send("report");
  return (await told)[0] as DevicesReport;
}

async function connectTo(service: WholeService): Promise<pg.Client> {
  const environment = readFileSync(`/proc/${service.ready.pids.main}/environ`, "utf8");
  const url = /(?:^|\0)DATABASE_URL=([^\0]*)/.exec(environment)?.[1];
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  return database;
}

/** Written as the service writes them; pairing so many by hand would take minutes. */
async function makeDevices(database: pg.Client, count: number): Promise<DevicesTask["devices"]> {
  const place = await database.query<{ workspace: string; owner: string }>(
    "select workspace_id as workspace, user_id as owner from workspace_members limit 1",
  );
  const { workspace, owner } = place.rows[0] ?? {};
  const devices = Array.from({ length: count }, (_, n) => ({
    id: newId(),
    key: newDeviceKey(),
    recording: n % 10 === 0,
  }));
  const ids = devices.map(({ id }) => id);
  await database.query(
    `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
     select id, 'bench', 'paired', $2, $3, convert_to(id::text, 'UTF8') from unnest($1::uuid[]) as id`,
    [ids, workspace, owner],
  );
  await database.query(
    `insert into device_keys (id, device_id, key_hash, expires_at)
     select id, device_id, key_hash, now() + interval '30 days'
     from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as keys (id, device_id, key_hash)`,
    [ids.map(() => newId()), ids, devices.map(({ key }) => secretHash(key))],
  );
  const recording = devices.filter((each) => each.recording);
  await database.query(
    `insert into sessions (id, workspace_id, owner_id, device_id, job_id, status)
     select id, $3, $4, device_id, id, 'recording'
     from unnest($1::uuid[], $2::uuid[]) as sessions (id, device_id)`,
    [recording.map(() => newId()), recording.map(({ id }) => id), workspace, owner],
  );
  return devices;
}
