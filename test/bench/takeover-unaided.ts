import { setTimeout as delay } from "node:timers/promises";
import {
  call,
  conversationPcm,
  cut,
  PairedDevice,
  persistently,
} from "../support/paired-device.ts";
import { HOSTS, type HostName, type ServiceCluster } from "../support/service-cluster.ts";
import { until } from "../support/until.ts";

/** What was under way when its owner was killed. */
export type Unfinished = "redo" | "late reading";

export interface Unaided {
  readonly what: Unfinished;
  /** From the kill until another host had the session; undefined when none ever had. */
  readonly activatedMs: number | undefined;
  /** From the kill until it was done. */
  readonly doneMs: number | undefined;
}

const CHUNK_SECONDS = 5;
const LATE_CHUNK = 3;
/** A missing chunk of a live session is waited for 10 s. */
const GAP_MS = 60_000;
const LONGEST_MS = 120_000;
const POLL_MS = 20;
/** A redo has begun to read, and is far from its end. */
const UNDER_WAY_MS = 1_500;

/**
 * Kills the owner of a session that nobody records any more while its redo, or the reading of a
 * late chunk, is under way. From then on only the database is looked at: no request comes that
 * could wake the session.
 */
export async function measureUnaided(cluster: ServiceCluster, what: Unfinished): Promise<Unaided> {
  const device = await PairedDevice.pair(cluster.service);
  await device.start();
  const chunks = cut(CHUNK_SECONDS, conversationPcm());
  for (const [sequence, pcm] of chunks.entries()) {
    if (what === "redo" || sequence !== LATE_CHUNK) await device.upload(sequence, pcm);
  }
  if (what === "late reading") await until(() => hasGap(cluster, device), "a gap", GAP_MS);
  await device.stop(chunks.length - 1);
  await device.completed();
  await cluster.balanced();
  const host = await ownerOf(cluster, device);
  if (what === "redo") await redo(device);
  else await device.upload(LATE_CHUNK, chunks[LATE_CHUNK] ?? new Uint8Array(0));
  const before = await epochOf(cluster, device);
  const pid = cluster.service.kill(host);
  const killedAt = performance.now();
  const since = () => performance.now() - killedAt;
  let activatedMs: number | undefined;
  let doneMs: number | undefined;
  while (doneMs === undefined && since() < LONGEST_MS) {
    if (activatedMs === undefined && (await epochOf(cluster, device)) > before)
      activatedMs = since();
    if (await isDone(cluster, device, what)) doneMs = since();
    await delay(POLL_MS);
  }
  await cluster.service.replaced(host, pid);
  return { what, activatedMs, doneMs };
}

/** One that has the session, asked before anything is under way: a redo does not move it. */
async function ownerOf(cluster: ServiceCluster, device: PairedDevice): Promise<HostName> {
  for (const host of HOSTS) {
    const devices = await cluster.devicesOn(host, [device]);
    if (devices.length > 0) return host;
  }
  throw new Error("No host has the session.");
}

async function redo(device: PairedDevice): Promise<void> {
  const { service, token, sessionId } = device;
  const path = `/sessions/${sessionId}`;
  const { body } = await persistently<{ transcription_job_id: string }>(service, "GET", path, {
    token,
  });
  const again = `/admin/jobs/transcriptions/${body.transcription_job_id}/redo`;
  const { status } = await call(service.api, "POST", again, { token });
  if (status !== 200) throw new Error(`The redo was answered ${status}.`);
  await delay(UNDER_WAY_MS);
}

async function hasGap({ database }: ServiceCluster, { sessionId }: PairedDevice): Promise<boolean> {
  const { rowCount } = await database.query(
    "select from events where session_id = $1 and type = 'GapDeclared'",
    [sessionId],
  );
  return rowCount === 1;
}

async function epochOf({ database }: ServiceCluster, { sessionId }: PairedDevice): Promise<number> {
  const { rows } = await database.query<{ epoch: number }>(
    "select epoch::int as epoch from sessions where id = $1",
    [sessionId],
  );
  return rows[0]?.epoch ?? 0;
}

async function isDone(
  { database }: ServiceCluster,
  { sessionId }: PairedDevice,
  what: Unfinished,
): Promise<boolean> {
  const { rows } = await database.query<{ redone: boolean; read: boolean }>(
    `select exists (select from jobs where session_id = $1 and kind = 'transcription'
              and status = 'completed') as redone,
            exists (select from chunks where session_id = $1 and sequence = $2
              and status = 'completed') as read`,
    [sessionId, LATE_CHUNK],
  );
  return (what === "redo" ? rows[0]?.redone : rows[0]?.read) === true;
}
