import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { environmentOf, HOSTS, ServiceCluster } from "../support/service-cluster.ts";
import { measureUnaided, type Unaided } from "./takeover-unaided.ts";

const SESSIONS = 12;
const LONGEST_MS = 60_000;
const POLL_MS = 10;
const SERVERS = ["nats-1", "nats-2", "nats-3"] as const;
/** In one round of so many a NATS server is killed with the owner. */
const NATS_TOO = 4;
/** The logs of a run that failed. */
const LOGS = resolve(import.meta.dirname, "../../out/takeover");

export interface TakeoverFigures {
  kills: number;
  /** From kill -9 of a session's owner to the first event that its new owner made durable. */
  takeoverMs: number[];
  /** The same, where a NATS server was killed as well. */
  withoutNatsMs: number[];
  leaseMs: number;
  /** Of sessions that nobody records any more. */
  unaided: Unaided[];
}

/** Kills owners of live sessions, now and then with a NATS server. */
export async function measureTakeover(
  kills: number,
  unaidedRounds: number,
  tell: (line: string) => void = () => {},
): Promise<TakeoverFigures> {
  const cluster = await ServiceCluster.start(SESSIONS);
  try {
    const takeoverMs: number[] = [];
    const withoutNatsMs: number[] = [];
    for (let n = 0; n < kills; n += 1) {
      const server = n % NATS_TOO === NATS_TOO - 1 ? SERVERS[n % SERVERS.length] : undefined;
      const found = await killOwner(cluster, n, server);
      (server === undefined ? takeoverMs : withoutNatsMs).push(...found);
      const also = server === undefined ? "" : ` and ${server}`;
      tell(`kill ${n + 1}${also}: ${found.map((ms) => Math.round(ms)).join(" ")} ms`);
    }
    const unaided: Unaided[] = [];
    for (let n = 0; n < unaidedRounds; n += 1) {
      for (const what of ["redo", "late reading"] as const) {
        const found = await measureUnaided(cluster, what);
        unaided.push(found);
        const ms = (value: number | undefined) => value?.toFixed(0) ?? "never";
        tell(`${what}: taken up after ${ms(found.activatedMs)}, done after ${ms(found.doneMs)} ms`);
      }
    }
    const env = environmentOf(cluster.service.ready.pids["sessions-1"] ?? 0);
    return { kills, takeoverMs, withoutNatsMs, leaseMs: Number(env.LEASE_MS ?? 1_500), unaided };
  } catch (error) {
    cpSync(join(cluster.service.folder, "data/logs"), LOGS, { recursive: true });
    tell(`logs are in ${LOGS}`);
    throw error;
  } finally {
    await cluster.stop();
  }
}

/** Milliseconds for each session that the killed host had. */
async function killOwner(
  cluster: ServiceCluster,
  round: number,
  server: (typeof SERVERS)[number] | undefined,
): Promise<number[]> {
  await cluster.balanced();
  const host = HOSTS[round % HOSTS.length] ?? HOSTS[0];
  const devices = await cluster.devicesOn(host);
  const ids = devices.map(({ sessionId }) => sessionId);
  const before = await cluster.epochs(ids);
  const serverPid = server === undefined ? undefined : cluster.service.kill(server);
  const pid = cluster.service.kill(host);
  const killedAt = performance.now();
  const sending = Promise.all(devices.map((device) => cluster.upload(device, round % 2)));
  const found = new Map<string, number>();
  while (found.size < ids.length && performance.now() - killedAt < LONGEST_MS) {
    const now = await cluster.newestEpochs(ids);
    for (const [id, epoch] of now) {
      const isNew = epoch > (before.get(id) ?? 0) && !found.has(id);
      if (isNew) found.set(id, performance.now() - killedAt);
    }
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  await sending;
  await cluster.service.replaced(host, pid);
  if (server !== undefined && serverPid !== undefined) {
    await cluster.service.replaced(server, serverPid);
  }
  if (found.size < ids.length) throw new Error("A session was not taken over within a minute.");
  return [...found.values()];
}
