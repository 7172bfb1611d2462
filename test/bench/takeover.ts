import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { connect, type JetStreamManager } from "nats";
import { ClusterStage, environmentOf, HOSTS } from "../support/cluster-stage.ts";
import { until } from "../support/until.ts";
import { measureUnaided, type Unaided } from "./takeover-unaided.ts";

const SESSIONS = 12;
const LONGEST_MS = 60_000;
const POLL_MS = 10;
const SERVERS = ["nats-1", "nats-2", "nats-3"] as const;
/** The logs of a run that failed. */
const LOGS = resolve(import.meta.dirname, "../../out/takeover");
const PROBE = "TAKEOVER_PROBE";
const PROBE_SUBJECT = "takeover.probe";

export interface TakeoverFigures {
  kills: number;
  /** From kill -9 of a session's owner to the first event that its new owner made durable. */
  takeoverMs: number[];
  /** From kill -9 of the leader of a 3-copy NATS stream to the next acknowledged message. */
  natsLeaderMs: number[];
  leaseMs: number;
  /** Of sessions that nobody records any more. */
  unaided: Unaided[];
}

/**
 * Kills owners of live sessions, and in between the leader of the command stream, the nearest
 * peer that does the same job: both in one run, on one machine.
 */
export async function measureTakeover(
  kills: number,
  leaderKills: number,
  unaidedRounds: number,
  tell: (line: string) => void = () => {},
): Promise<TakeoverFigures> {
  const stage = await ClusterStage.start(SESSIONS);
  try {
    const takeoverMs: number[] = [];
    const natsLeaderMs: number[] = [];
    for (let n = 0; n < kills; n += 1) {
      const found = await killOwner(stage, n);
      takeoverMs.push(...found);
      tell(`kill ${n + 1}: ${found.map((ms) => Math.round(ms)).join(" ")} ms`);
      if (natsLeaderMs.length * kills < (n + 1) * leaderKills) {
        const ms = await killLeader(stage);
        natsLeaderMs.push(ms);
        tell(`NATS leader: ${Math.round(ms)} ms`);
      }
    }
    const unaided: Unaided[] = [];
    for (let n = 0; n < unaidedRounds; n += 1) {
      for (const what of ["redo", "late reading"] as const) {
        const found = await measureUnaided(stage, what);
        unaided.push(found);
        const ms = (value: number | undefined) => value?.toFixed(0) ?? "never";
        tell(`${what}: taken up after ${ms(found.activatedMs)}, done after ${ms(found.doneMs)} ms`);
      }
    }
    const env = environmentOf(stage.service.ready.pids["sessions-1"] ?? 0);
    return { kills, takeoverMs, natsLeaderMs, leaseMs: Number(env.LEASE_MS ?? 1_500), unaided };
  } catch (error) {
    cpSync(join(stage.service.folder, "data/logs"), LOGS, { recursive: true });
    tell(`logs are in ${LOGS}`);
    throw error;
  } finally {
    await stage.stop();
  }
}

/** Milliseconds for each session that the killed host had. */
async function killOwner(stage: ClusterStage, round: number): Promise<number[]> {
  await stage.balanced();
  const host = HOSTS[round % HOSTS.length] ?? HOSTS[0];
  const devices = await stage.devicesOn(host);
  const ids = devices.map(({ sessionId }) => sessionId);
  const before = await stage.epochs(ids);
  const pid = stage.service.kill(host);
  const killedAt = performance.now();
  const sending = Promise.all(devices.map((device) => stage.upload(device, round % 2)));
  const found = new Map<string, number>();
  while (found.size < ids.length && performance.now() - killedAt < LONGEST_MS) {
    const now = await stage.newestEpochs(ids);
    for (const [id, epoch] of now) {
      const isNew = epoch > (before.get(id) ?? 0) && !found.has(id);
      if (isNew) found.set(id, performance.now() - killedAt);
    }
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  await sending;
  await stage.service.replaced(host, pid);
  if (found.size < ids.length) throw new Error("A session was not taken over within a minute.");
  return [...found.values()];
}

/** The stream's own failover, seen by a client that publishes until it is acknowledged. */
async function killLeader(stage: ClusterStage): Promise<number> {
  const env = environmentOf(stage.service.ready.pids["sessions-1"] ?? 0);
  const connection = await connect({
    servers: (env.NATS_URL ?? "").split(","),
    ...(env.NATS_TOKEN ? { token: env.NATS_TOKEN } : {}),
    reconnectTimeWait: 50,
    maxReconnectAttempts: -1,
  });
  try {
    const manager = await connection.jetstreamManager({ timeout: 20_000 });
    await manager.streams.add({ name: PROBE, subjects: [PROBE_SUBJECT], num_replicas: 3 });
    const { cluster } = await manager.streams.info(PROBE);
    const victim = SERVERS.find((each) => each === cluster?.leader);
    if (victim === undefined) throw new Error("The probe's stream has no leader.");
    const jetstream = connection.jetstream({ timeout: 250 });
    await jetstream.publish(PROBE_SUBJECT);
    const pid = stage.service.kill(victim);
    const killedAt = performance.now();
    while (!(await jetstream.publish(PROBE_SUBJECT).then(ok, no))) {
      if (performance.now() - killedAt > LONGEST_MS) throw new Error("No new leader in a minute.");
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
    const ms = performance.now() - killedAt;
    await stage.service.replaced(victim, pid);
    await manager.streams.delete(PROBE);
    await until(() => isWhole(manager), "the NATS cluster to be whole again", LONGEST_MS);
    return ms;
  } finally {
    await connection.close();
  }
}

/** Every stream has its leader and all of its copies: one fault at a time is measured. */
async function isWhole(manager: JetStreamManager): Promise<boolean> {
  try {
    for (const { cluster } of await manager.streams.list().next()) {
      const copies = cluster?.replicas ?? [];
      if (!cluster?.leader || copies.length < SERVERS.length - 1) return false;
      if (copies.some(({ current, offline }) => !current || offline)) return false;
    }
    return true;
  } catch {
    return false;
  }
}

const ok = (): boolean => true;
const no = (): boolean => false;
