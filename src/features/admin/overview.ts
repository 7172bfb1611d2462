import { type Static, Type } from "@sinclair/typebox";
import type {
  LiveSessionRecord,
  NodeRecord,
  NodeRegister,
  QueueRecord,
  WorkerRecord,
} from "../../actor/overview-source.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { isAppError } from "../../base/errors.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { LAG } from "../../wire/field-descriptions.ts";
import { JOB_KINDS } from "../jobs/store.ts";
import type { OverviewStore } from "./overview-store.ts";

const NEWEST = 50;

export interface OverviewOptions {
  overview: OverviewStore;
  register: NodeRegister;
  /** Every worker heard from lately, by id. */
  workers(): readonly WorkerRecord[];
  /** Silence after which a node counts as gone, in milliseconds. */
  leaseMs: number;
  /** Problems that last as long as the process runs, a sentence each. */
  warnings: readonly string[];
  clock: Clock;
}

const count = Type.Integer({ minimum: 0 });

const nodeSchema = Type.Object({
  name: Type.String(),
  state: Type.Union([Type.Literal("alive"), Type.Literal("leaving"), Type.Literal("silent")], {
    description: "`leaving`: puts its sessions away to stop",
  }),
  last_seen_at: timestamp,
  partitions: Type.Array(Type.Integer(), {
    description: "Parts of the sessions whose actors it hosts",
  }),
  sessions: Type.Integer({ minimum: 0, description: "Unfinished ones of these partitions" }),
});

const workerSchema = Type.Object({
  worker_id: Type.String(),
  address: Type.String(),
  version: Type.String(),
  engines: Type.Array(Type.String()),
  state: Type.Union(
    (["available", "full", "draining", "backing_off"] as const).map((each) => Type.Literal(each)),
  ),
  sessions: count,
  capacity: count,
  silent_ms: count,
});

const queuesSchema = Type.Object({
  outbox: Type.Object({
    count,
    oldest_age_ms: Type.Optional(count),
  }),
  parked: Type.Object(
    {
      count,
      oldest_age_ms: Type.Optional(count),
      session_ids: Type.Array(Type.String(), { description: "Up to ten, the latest first" }),
    },
    { description: "Commands that failed so often that they are tried no more" },
  ),
  jobs: Type.Array(
    Type.Object({
      kind: Type.Union(JOB_KINDS.map((kind) => Type.Literal(kind))),
      queued: count,
      running: count,
    }),
  ),
  chunks_pending: Type.Integer({ minimum: 0, description: "Stored, and not transcribed yet" }),
  webhook_deliveries_due: count,
});

const liveSchema = Type.Object({
  id: Type.String(),
  workspace_id: Type.String(),
  seq: count,
  started_at: timestamp,
  node: Type.Optional(Type.String({ description: "Which node has its actor" })),
  pending_chunks: count,
  lag_ms: Type.Integer({ minimum: 0, description: LAG }),
});

const overviewSchema = Type.Object({
  at: timestamp,
  warnings: Type.Array(Type.String(), {
    description: "What somebody should set right, such as a database that is not durable",
  }),
  nodes: Type.Optional(
    Type.Array(nodeSchema, { description: "Left out while the leases cannot be read" }),
  ),
  workers: Type.Array(workerSchema),
  queues: queuesSchema,
  failed_sign_ins: Type.Object(
    {
      this_hour: count,
      accounts: Type.Integer({ minimum: 0, description: "Unknown ones count as one" }),
    },
    { description: "Since the full hour; the audit log tells which when the hour is over" },
  ),
  sessions: Type.Object({
    by_status: Type.Object({
      recording: count,
      processing: count,
      completed: count,
      failed: count,
      deleted: count,
    }),
    live: Type.Array(liveSchema, { description: `Recording now, the newest ${NEWEST}` }),
  }),
});

/** GET /admin/overview. */
export function overviewRoutes({
  overview,
  register,
  workers,
  ...ports
}: OverviewOptions): Route[] {
  const read = defineRoute({
    method: "get",
    path: "/admin/overview",
    id: "getOverview",
    tag: "Admin",
    summary: "What runs, what waits, and what records now",
    description: "Ids and numbers only: no titles, no names, no words.",
    auth: ["bearer"],
    roles: ["admin"],
    responses: { 200: { description: "The service as it is now", schema: overviewSchema } },
    async handle() {
      const [nodes, unfinished, queues, failed, statuses, live] = await Promise.all([
        nodesOf(register),
        overview.unfinishedByPartition(),
        overview.queues(),
        overview.failedSignIns(),
        overview.sessionsByStatus(),
        overview.recording(NEWEST),
      ]);
      const now = ports.clock.now();
      const body: Static<typeof overviewSchema> = {
        at: toTimestamp(now),
        warnings: [...ports.warnings],
        ...(nodes && {
          nodes: nodes.map((node) => presentNode(node, unfinished, now, ports.leaseMs)),
        }),
        workers: workers().map(presentWorker),
        queues: presentQueues(queues, now),
        failed_sign_ins: { this_hour: failed.failures, accounts: failed.accounts },
        sessions: {
          by_status: presentStatuses(statuses),
          live: live.map((session) => presentLive(session, nodes ?? [])),
        },
      };
      return { status: 200, body };
    },
  });
  return [read];
}

/** Undefined when the register is unavailable, so that the rest of the overview is still shown. */
async function nodesOf(register: NodeRegister): Promise<NodeRecord[] | undefined> {
  try {
    return await register.nodes();
  } catch (error) {
    if (isAppError(error) && error.code === "unavailable") return undefined;
    throw error;
  }
}

function presentNode(
  { name, lastSeenAt, leaving, partitions }: NodeRecord,
  unfinished: ReadonlyMap<number, number>,
  now: number,
  leaseMs: number,
): Static<typeof nodeSchema> {
  const isSilent = now - lastSeenAt >= leaseMs;
  const state = isSilent ? "silent" : leaving ? "leaving" : "alive";
  const sessions = partitions.reduce((sum, each) => sum + (unfinished.get(each) ?? 0), 0);
  return { name, state, last_seen_at: toTimestamp(lastSeenAt), partitions, sessions };
}

function presentWorker(worker: WorkerRecord): Static<typeof workerSchema> {
  const { worker_id, address, version, engines, state, sessions, capacity, silent_ms } = worker;
  const known = [...engines];
  return { worker_id, address, version, engines: known, state, sessions, capacity, silent_ms };
}

function presentQueues(
  { outbox, parked, jobs, chunksPending, webhooksDue }: QueueRecord,
  now: number,
): Static<typeof queuesSchema> {
  const age = (oldestAt: number | undefined) =>
    oldestAt === undefined ? {} : { oldest_age_ms: Math.max(0, now - oldestAt) };
  return {
    outbox: { count: outbox.count, ...age(outbox.oldestAt) },
    parked: {
      count: parked.count,
      ...age(parked.oldestAt),
      session_ids: parked.sessionIds,
    },
    jobs: JOB_KINDS.map((kind) => {
      const known = jobs.find((each) => each.kind === kind);
      return { kind, queued: known?.queued ?? 0, running: known?.running ?? 0 };
    }),
    chunks_pending: chunksPending,
    webhook_deliveries_due: webhooksDue,
  };
}

function presentStatuses(
  statuses: Record<string, number>,
): Static<typeof overviewSchema>["sessions"]["by_status"] {
  const { recording = 0, processing = 0, completed = 0, failed = 0, deleted = 0 } = statuses;
  return { recording, processing, completed, failed, deleted };
}

function presentLive(
  session: LiveSessionRecord,
  nodes: readonly NodeRecord[],
): Static<typeof liveSchema> {
  const node = nodes.find(({ partitions }) => partitions.includes(session.partition))?.name;
  return {
    id: session.id,
    workspace_id: session.workspaceId,
    seq: session.seq,
    started_at: toTimestamp(session.startedAt),
    ...(node !== undefined && { node }),
    pending_chunks: session.pendingChunks,
    lag_ms: session.lagMs,
  };
}
