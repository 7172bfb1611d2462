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
import { PostgresNodeRegister } from "../../postgres/lease-store.ts";
import { ParkedCommandStore } from "../../postgres/parked-commands.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { LAG } from "../../wire/field-descriptions.ts";
import type { FeatureContext } from "../context.ts";
import { JOB_KINDS } from "../jobs/store.ts";
import { AudioMove } from "../recording/audio-store/audio-move.ts";
import type { MovingStore } from "../recording/audio-store/moving-store.ts";
import { failChunksOf } from "../recording/chunk-states-store.ts";
import type { AudioVerification } from "../recording/integrity/audio-verification.ts";
import { storedAudioRoutes } from "./audio.ts";
import { audioMoveRoutes } from "./audio-move.ts";
import { type HealthOptions, healthRoutes } from "./health.ts";
import { outboxRoutes } from "./outbox.ts";
import { OverviewStore } from "./overview-store.ts";

const NEWEST = 50;

interface OverviewOptions {
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

const count = (description: string) => Type.Integer({ minimum: 0, description });

const backlog = {
  count: count("So many wait"),
  oldest_age_ms: Type.Optional(count("How long the oldest has waited, in milliseconds")),
};

const nodeSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the process's node", examples: ["main-1"] }),
    state: Type.Union([Type.Literal("alive"), Type.Literal("leaving"), Type.Literal("silent")], {
      description: "`leaving`: puts its sessions away to stop",
    }),
    last_seen_at: timestamp,
    partitions: Type.Array(Type.Integer(), {
      description: "Parts of the sessions whose actors it hosts",
    }),
    sessions: Type.Integer({ minimum: 0, description: "Unfinished ones of these partitions" }),
  },
  { $id: "Node" },
);

const workerSchema = Type.Object(
  {
    worker_id: Type.String({
      minLength: 1,
      description: "Name of the worker, as `WORKER_ID` sets it",
    }),
    address: Type.String(),
    version: Type.String(),
    engines: Type.Array(Type.String()),
    state: Type.Union(
      (["available", "full", "draining", "backing_off"] as const).map((each) => Type.Literal(each)),
      { description: "Whether it takes another session" },
    ),
    sessions: count("Sessions that it reads now"),
    capacity: count("Sessions that it reads at once, at most"),
    silent_ms: count("How long since it was last heard, in milliseconds"),
    networks: Type.Optional(
      Type.Object(
        {
          provider: Type.String({
            description: "`cpu`, or `cuda` for NVIDIA's cards",
            examples: ["cpu"],
          }),
          reason: Type.Optional(
            Type.String({ description: "Why it is not the one that is wanted most" }),
          ),
        },
        { description: "By what its networks are run; left out where it has none" },
      ),
    ),
  },
  { $id: "Worker" },
);

const queuesSchema = Type.Object(
  {
    outbox: Type.Object(backlog, { description: "Commands that wait for their session's owner" }),
    parked: Type.Object(
      {
        ...backlog,
        session_ids: Type.Array(Type.String(), { description: "Up to ten, the latest first" }),
      },
      { description: "Commands that failed so often that they are tried no more" },
    ),
    jobs: Type.Array(
      Type.Object({
        kind: Type.Union(JOB_KINDS.map((kind) => Type.Literal(kind))),
        queued: count("Jobs that wait"),
        running: count("Jobs at work"),
      }),
      { description: "Work that takes a while, by kind" },
    ),
    chunks_pending: Type.Integer({ minimum: 0, description: "Stored, and not transcribed yet" }),
    webhook_deliveries_due: count("Messages whose next attempt is due"),
  },
  { $id: "Queues" },
);

const liveSchema = Type.Object(
  {
    id: Type.String(),
    workspace_id: Type.String(),
    seq: count("Number of its newest event"),
    started_at: timestamp,
    node: Type.Optional(Type.String({ description: "Which node has its actor" })),
    pending_chunks: count("Chunks that were not transcribed yet"),
    lag_ms: Type.Integer({ minimum: 0, description: LAG }),
  },
  { $id: "LiveSession" },
);

const overviewSchema = Type.Object(
  {
    at: timestamp,
    warnings: Type.Array(Type.String(), {
      description: "What somebody should set right, such as a database that is not durable",
    }),
    nodes: Type.Optional(
      Type.Array(nodeSchema, { description: "Left out while the leases cannot be read" }),
    ),
    workers: Type.Array(workerSchema, { description: "Processes that recognise speech" }),
    queues: queuesSchema,
    failed_sign_ins: Type.Object(
      {
        this_hour: count("Sign-ins that failed"),
        accounts: Type.Integer({ minimum: 0, description: "Unknown ones count as one" }),
      },
      { description: "Since the full hour; the audit log tells which when the hour is over" },
    ),
    sessions: Type.Object(
      {
        by_status: Type.Object(
          {
            recording: count("Recording now"),
            processing: count("Stopped, and still being read"),
            completed: count("Read to the end"),
            failed: count("Nothing of them could be read"),
            deleted: count("Deleted; their records stay for the audit"),
          },
          { description: "Their number, by status" },
        ),
        live: Type.Array(liveSchema, { description: `Recording now, the newest ${NEWEST}` }),
      },
      { description: "Sessions of all workspaces" },
    ),
  },
  { $id: "Overview" },
);

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
  const { networks } = worker;
  const known = [...engines];
  return {
    ...{ worker_id, address, version, engines: known, state, sessions, capacity, silent_ms },
    ...(networks && { networks }),
  };
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

interface CreateAdminOptions extends Pick<OverviewOptions, "workers" | "leaseMs" | "warnings"> {
  verification: AudioVerification;
  /** The store of the audio while it is moved there from another one. */
  moving: MovingStore | undefined;
  health: HealthOptions;
}

/** The installation as its operators see it. */
export function createAdmin(
  { pool, clock, cursorKey }: FeatureContext,
  { health, verification, moving, ...state }: CreateAdminOptions,
) {
  const overview = new OverviewStore(pool);
  const register = new PostgresNodeRegister(pool);
  const parked = new ParkedCommandStore(pool, failChunksOf);
  const move = moving && new AudioMove(moving, clock);
  return {
    routes: [
      ...overviewRoutes({ ...state, overview, register, clock }),
      ...outboxRoutes({ parked, cursorKey }),
      ...storedAudioRoutes({ verification, cursorKey }),
      ...audioMoveRoutes({ move, cursorKey }),
      ...healthRoutes(health),
    ],
  };
}
