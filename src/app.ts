import { inAddress, listenOn } from "./base/listening.ts";
import type { Log } from "./base/log.ts";
import { OpsServer } from "./base/ops-server.ts";
import { QueueMetrics } from "./base/queue-metrics.ts";
import { Stack } from "./base/stack.ts";
import { readiness } from "./conversations/admin/health.ts";
import type { Figure, FigureByKind } from "./http/operations.ts";
import { Ceilings } from "./postgres/ceilings.ts";
import type { Config } from "./roles/config.ts";
import { eraseAgain, redactAgain } from "./roles/erasure.ts";
import { startFront } from "./roles/front.ts";
import { healthPorts } from "./roles/health.ts";
import { startMaintenance } from "./roles/maintenance.ts";
import { createMetrics } from "./roles/metrics.ts";
import { startRpc } from "./roles/rpc.ts";
import { type SessionsRole, startSessions } from "./roles/sessions.ts";
import { type AppContext, openShared } from "./roles/shared.ts";
import { createAudioStreams, startBacklog } from "./roles/streams.ts";
import { AuditStore } from "./tenancy/audit/audit-store.ts";

export interface RunningApp {
  /** Where it listens, as the ready line says it. */
  addresses: { base_url?: string; live_url?: string; ops_url: string; grpc_sessions: string };
  /** Drains and stops everything; never rejects. */
  stop(): Promise<void>;
}

const STOP_MS_PER_PART = 3_000;

/**
 * Puts one process together: what its roles need, started in order and stopped
 * in the reverse order. Rejects, with everything stopped again, when a part
 * does not start.
 */
export async function startApp(config: Config, version: string, log: Log): Promise<RunningApp> {
  const stack = new Stack(log);
  try {
    return await startParts(config, version, log, stack);
  } catch (error) {
    await stack.stop(STOP_MS_PER_PART);
    throw error;
  }
}

/** With one database role for everything the audit log is only as safe as that role. */
async function reportAuditProtection({ shared, log }: AppContext): Promise<void> {
  if (await new AuditStore(shared.pool).isProtected()) return;
  log.warn(
    {},
    "the audit log is not protected from this service's own database role: migrate with DATABASE_OWNER_URL as one role and serve with DATABASE_URL as another",
  );
}

async function startParts(
  config: Config,
  version: string,
  log: Log,
  stack: Stack,
): Promise<RunningApp> {
  const shared = await openShared(config, log, stack);
  const queues = new QueueMetrics();
  for (const owner of [shared.blobs, shared.converter, shared.sounds]) queues.add(owner);
  const { runtime } = shared;
  const ceilings = new Ceilings(config.ceilings);
  const context = {
    config,
    version,
    log,
    clock: runtime,
    runtime,
    stack,
    shared,
    queues,
    ceilings,
  };
  const repeated = await eraseAgain(context);
  const figures: (Figure | FigureByKind)[] = [];
  let sessions: SessionsRole | undefined;
  if (config.roles.has("sessions")) {
    sessions = await startSessions(context);
    figures.push(...startMaintenance(context, repeated, sessions.isFirst));
  }
  await redactAgain(context);
  await reportAuditProtection(context);
  const backlog = startBacklog(context);
  // One for both ways in: a session takes audio from one connection at a time.
  const streams = createAudioStreams(context, backlog);
  const rpc = await startRpc(context, streams);
  figures.push(...rpc.figures);
  const metrics = createMetrics(context, { sessions, outbox: backlog }, figures);
  const ops = new OpsServer({ metrics, ready: readiness(healthPorts(context)) });
  const opsPort = await listenOn("OPS_PORT", config.opsPort, (port) =>
    ops.start(config.opsHost, port),
  );
  stack.push("operations port", () => ops.stop());
  const addresses: RunningApp["addresses"] = {
    ops_url: `http://${inAddress(config.opsHost)}:${opsPort}`,
    grpc_sessions: `${inAddress(config.rpcHost)}:${rpc.port}`,
  };
  if (config.roles.has("front")) {
    const port = await startFront(context, { streams, backlog }, metrics.observeFront());
    addresses.base_url = config.publicUrl ?? `http://${inAddress(config.host)}:${port}`;
    addresses.live_url = `${addresses.base_url.replace(/^http/, "ws")}/api/live`;
  }
  return { addresses, stop: () => stack.stop(STOP_MS_PER_PART) };
}
