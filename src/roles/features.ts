import { ParkedCommandStore } from "../features/admin/outbox-store.ts";
import { OverviewStore } from "../features/admin/overview-store.ts";
import { ElevationStore } from "../features/audit/elevation-store.ts";
import { ConcernStore } from "../features/concerns/store.ts";
import { HeartbeatWriter } from "../features/devices/heartbeats.ts";
import { PostgresHeartbeats } from "../features/devices/heartbeats-store.ts";
import { DeviceStore } from "../features/devices/store.ts";
import { GraphBuildStore } from "../features/graph/build-store.ts";
import { GraphBuilder } from "../features/graph/builder.ts";
import type { GraphOptions } from "../features/graph/routes.ts";
import { GraphStore } from "../features/graph/store.ts";
import { JobStore } from "../features/jobs/store.ts";
import { SearchStore } from "../features/questions/search-store.ts";
import { PostgresChunkStore } from "../features/recording/chunk-store.ts";
import { PostgresDeviceSessions } from "../features/recording/device-sessions-store.ts";
import { PostgresRedactedSpans, RecordingStore } from "../features/recording/playback-store.ts";
import { AwaitedAudioStore } from "../features/sessions/awaited-audio-store.ts";
import { SessionMemberStore } from "../features/sessions/members-store.ts";
import { SessionEditStore, type SessionStore } from "../features/sessions/store.ts";
import { SummaryStore } from "../features/summaries/store.ts";
import { AudioInventoryStore } from "../features/transcript/audio-inventories-store.ts";
import { ChunkListStore } from "../features/transcript/chunks-store.ts";
import { TranscriptionJobStore } from "../features/transcript/jobs-store.ts";
import { PostgresSegmentEdits, SegmentStore } from "../features/transcript/segments-store.ts";
import { AddressGuard } from "../features/webhooks/address-guard.ts";
import { WebhookSecrets } from "../features/webhooks/secrets.ts";
import { DeliveryStore, WebhookStore } from "../features/webhooks/store.ts";
import { WorkspaceMemberStore } from "../features/workspaces/members-store.ts";
import { WorkspaceEditStore, WorkspaceStore } from "../features/workspaces/store.ts";
import { CharacterStore, WorkshopStore } from "../features/workspaces/workshops-store.ts";
import { asyncApiDocument } from "../http/async-api.ts";
import { GrpcEntities } from "../inference/grpc-entities.ts";
import { PostgresNodeRegister } from "../postgres/lease-store.ts";
import type { OutboxBacklog } from "../postgres/outbox-backlog.ts";
import { SPEECH_ENGINES } from "../wire/speech-engines.ts";
import { JOBS_WAITING } from "../wire/subjects.ts";
import { type Access, createIdentityPorts } from "./accounts.ts";
import { healthPorts } from "./health.ts";
import { createErasure } from "./maintenance.ts";
import { createQueryPorts } from "./queries.ts";
import type { ApiOptions } from "./routes.ts";
import type { AppContext } from "./shared.ts";

interface Given {
  access: Access;
  directory: SessionStore;
  backlog: OutboxBacklog;
  publicUrl: () => string;
}

/** Creates the dependencies of all routes. */
export function createPorts(context: AppContext, given: Given): ApiOptions {
  const parts = createParts(context, given);
  return {
    ...createAccountPorts(context, parts),
    ...createGroupPorts(context, parts),
    webhooks: createWebhookPorts(context, parts),
    ...createConversationPorts(context, parts),
    ...createSessionPorts(context, parts),
    docs: { asyncApi: asyncApiDocument },
    graph: createGraphPorts(context, parts),
    queries: createQueryPorts(context, given.directory),
    health: healthPorts(context),
  };
}

type Parts = ReturnType<typeof createParts>;

/** Parts that several groups of routes share. */
function createParts(context: AppContext, given: Given) {
  const { pool } = context.shared;
  return {
    ...given,
    workspaces: new WorkspaceStore(pool),
    workshops: new WorkshopStore(pool),
    characters: new CharacterStore(pool),
    devices: new DeviceStore(pool),
    deviceSessions: new PostgresDeviceSessions(pool),
    segments: new SegmentStore(pool),
    awaited: new AwaitedAudioStore(pool),
    erasure: createErasure(context, given.access.revocations),
    heartbeats: createHeartbeats(context),
  };
}

/** Takes heartbeats of devices in this process; waiting ones are written before it stops. */
function createHeartbeats(context: AppContext): HeartbeatWriter {
  const { clock, log, stack, shared, queues } = context;
  const store = new PostgresHeartbeats(shared.pool);
  const heartbeats = new HeartbeatWriter({ store, clock, log });
  queues.add(heartbeats);
  stack.push("heartbeats", () => heartbeats.stop());
  return heartbeats;
}

/** Dependencies of the routes for people, workspaces, devices and administration. */
function createAccountPorts(
  context: AppContext,
  { access, workspaces, devices, erasure, heartbeats, publicUrl }: Parts,
): Pick<ApiOptions, "auth" | "serviceKeys" | "users" | "admin" | "workspaces" | "devices"> {
  const { config, clock, shared } = context;
  const { pool } = shared;
  const { cursorKey } = shared.keys;
  const { users, revocations, authenticator, pairing, passwords, audit } = access;
  return {
    ...createIdentityPorts(context, access, workspaces, publicUrl),
    users: { users, workspaces, passwords, revocations, cursorKey, eraser: erasure.accounts },
    admin: {
      elevations: new ElevationStore(pool),
      log: audit,
      revocations,
      cursorKey,
      parked: new ParkedCommandStore(pool),
      overview: new OverviewStore(pool),
      register: new PostgresNodeRegister(pool),
      workers: () => shared.placement.status(),
      leaseMs: config.leaseMs,
      warnings: shared.unsafe,
      clock,
    },
    workspaces: {
      workspaces,
      members: new WorkspaceMemberStore(pool),
      workspaceEdits: new WorkspaceEditStore(pool),
      users,
      revocations,
      cursorKey,
    },
    devices: {
      devices,
      heartbeats,
      workspaces,
      pairing,
      authenticator,
      clock,
      cursorKey,
    },
  };
}

function createGroupPorts(
  { shared }: AppContext,
  { directory, workspaces, workshops, characters }: Parts,
): Pick<ApiOptions, "workshops" | "concerns"> {
  const { pool, notifier, commands: actors, keys } = shared;
  const { cursorKey } = keys;
  const concerns = new ConcernStore(pool);
  return {
    workshops: { workshops, characters, workspaces, cursorKey },
    concerns: { directory, notifier, concerns, actors, cursorKey },
  };
}

function createWebhookPorts(
  { config, clock, shared }: AppContext,
  { workspaces }: Parts,
): ApiOptions["webhooks"] {
  return {
    workspaces,
    webhooks: new WebhookStore(shared.pool),
    deliveries: new DeliveryStore(shared.pool),
    endpoints: new AddressGuard({ allowPrivate: config.webhookAllowPrivate }),
    secrets: new WebhookSecrets(shared.keys.webhookKey),
    clock,
    cursorKey: shared.keys.cursorKey,
  };
}

/** Dependencies of the routes for sessions, from their start to their deletion. */
function createConversationPorts(
  context: AppContext,
  parts: Parts,
): Pick<ApiOptions, "deviceSessions" | "sessions" | "upload" | "jobs" | "summaries"> {
  const { config, shared } = context;
  const { pool, blobs, notifier, commands: actors } = shared;
  const { cursorKey } = shared.keys;
  const { directory, segments, workshops } = parts;
  const chunks = new PostgresChunkStore(pool);
  context.queues.add(chunks);
  return {
    deviceSessions: {
      sessions: parts.deviceSessions,
      workshops,
      notifier,
      publicUrl: config.publicUrl,
    },
    sessions: {
      directory,
      awaited: parts.awaited,
      patience: config.patience,
      chunks: new ChunkListStore(pool),
      segments,
      gaps: segments,
      assignees: directory,
      edits: new PostgresSegmentEdits(pool),
      names: parts.characters,
      sessionEdits: new SessionEditStore(pool),
      workshops,
      revocations: parts.access.revocations,
      actors,
      eraser: parts.erasure.sessions,
      cursorKey,
    },
    upload: {
      directory,
      chunks,
      blobs,
      notifier,
      backlog: parts.backlog,
      heartbeats: parts.heartbeats,
    },
    jobs: {
      directory,
      jobs: new TranscriptionJobStore(pool),
      allJobs: new JobStore(pool),
      segments,
      actors,
      engines: SPEECH_ENGINES.map(({ name }) => name),
      languages: SPEECH_ENGINES.flatMap(({ languages }) => languages),
      cursorKey,
    },
    summaries: {
      directory,
      summaries: new SummaryStore(pool),
      onRequested: () => shared.line.publish(JOBS_WAITING, new Uint8Array()),
      cursorKey,
    },
  };
}

/** Dependencies of the routes that act on sessions without reading their words. */
function createSessionPorts(
  { config, clock, shared: { pool, blobs, keys, notifier } }: AppContext,
  parts: Parts,
): Pick<ApiOptions, "recordings" | "ownSessions"> {
  const { directory, access } = parts;
  return {
    recordings: {
      directory,
      recordings: new RecordingStore(pool, blobs, new PostgresRedactedSpans(pool)),
      inventories: new AudioInventoryStore(pool),
      gaps: parts.segments,
      awaited: parts.awaited,
      patience: config.patience,
      authenticator: access.authenticator,
      clock,
    },
    ownSessions: {
      directory,
      devices: parts.devices,
      sessions: parts.deviceSessions,
      members: new SessionMemberStore(pool),
      users: access.users,
      workshops: parts.workshops,
      revocations: access.revocations,
      notifier,
      cursorKey: keys.cursorKey,
    },
  };
}

/**
 * Dependencies of the routes for graphs, which workers make and the database stores and combines.
 */
function createGraphPorts(
  { config, log, stack, shared, queues }: AppContext,
  { directory, workspaces }: Parts,
): GraphOptions {
  const { pool, placement, keys } = shared;
  const extractor = new GrpcEntities({ placement, key: config.workerKey });
  const builder = new GraphBuilder({ store: new GraphBuildStore(pool), extractor, log });
  queues.add(builder);
  stack.push("graph builder", () => {
    extractor.close();
    return builder.close();
  });
  return {
    directory,
    workspaces,
    workspaceSessions: new SearchStore(pool),
    builder,
    graphs: new GraphStore(pool),
    cursorKey: keys.cursorKey,
  };
}
