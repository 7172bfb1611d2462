import type { AudioStreams } from "./api/audio-streams.ts";
import { DeviceStreams } from "./api/device-streams.ts";
import type { Heartbeats } from "./api/heartbeats.ts";
import { type ApiPorts, createRoutes } from "./api/routes.ts";
import type { CommandNotifier } from "./api/sessions-outbox.ts";
import type { UploadBacklog } from "./api/upload-backlog.ts";
import { type Access, createAccess, createIdentityPorts } from "./app-access.ts";
import { createHeartbeats } from "./app-devices.ts";
import { createErasure } from "./app-erasure.ts";
import { createGraphPorts } from "./app-graph.ts";
import { createGroupPorts } from "./app-groups.ts";
import { healthPorts } from "./app-health.ts";
import { createLiveSource, createViewerPolicy } from "./app-live.ts";
import { createOverviewPorts } from "./app-overview.ts";
import { createQueryPorts } from "./app-queries.ts";
import { createSessionPorts } from "./app-session-ports.ts";
import type { AppContext } from "./app-shared.ts";
import { createWebhookPorts } from "./app-webhooks.ts";
import { asyncApiDocument } from "./front/async-api.ts";
import type { FrontObserver } from "./front/front-observer.ts";
import { DEFAULT_HTTP_LIMITS } from "./front/http.ts";
import { DEFAULT_LIVE_LIMITS } from "./front/live-limits.ts";
import { DEFAULT_RATE_LIMITS, type RateLimitSettings } from "./front/rate-limits.ts";
import { FrontServer } from "./front/server.ts";
import { PostgresAllJobs } from "./store/all-jobs.ts";
import { PostgresAwaitedAudio } from "./store/awaited-audio.ts";
import { PostgresChunkStore } from "./store/chunks.ts";
import { PostgresChunkListing } from "./store/chunks-listing.ts";
import { DeviceStore } from "./store/devices.ts";
import { PostgresElevations } from "./store/elevations.ts";
import { PostgresIdempotencyBook } from "./store/idempotency.ts";
import { PostgresTranscriptionJobs } from "./store/jobs.ts";
import { PostgresParkedCommands } from "./store/parked-commands.ts";
import { PostgresRedoSettings } from "./store/redo-settings.ts";
import { PostgresSegmentEdits } from "./store/segment-edits.ts";
import { PostgresSegments } from "./store/segments.ts";
import { PostgresSessionEdits } from "./store/session-edits.ts";
import { PostgresSessions } from "./store/sessions.ts";
import { PostgresDeviceSessions } from "./store/sessions-device.ts";
import { PostgresSummaries } from "./store/summaries.ts";
import { WorkspaceStore } from "./store/workspaces.ts";
import { WorkspaceEditStore } from "./store/workspaces-edit.ts";
import { WorkspaceMemberStore } from "./store/workspaces-members.ts";
import { JOBS_WAITING } from "./wire/subjects.ts";

/** For the requests and uploads in hand when the process is told to stop. */
const UPLOADS_IN_HAND_MS = 6_000;

/** Where audio goes, and whether more may come. */
export interface AudioIntake {
  streams: AudioStreams;
  backlog: UploadBacklog;
}

/** The role that serves REST and the live channel. Returns its port. */
export async function startFront(
  context: AppContext,
  { streams: audioStreams, backlog }: AudioIntake,
  observer: FrontObserver,
): Promise<number> {
  const { config, log, runtime, stack, shared, queues } = context;
  let listening = config.port;
  const publicUrl = () => config.publicUrl ?? `http://${reachable(config.host)}:${listening}`;
  const access = createAccess(context, publicUrl);
  const sessions = new PostgresSessions(shared.pool);
  const ports = createPorts(context, access, { directory: sessions, backlog }, publicUrl);
  const streams = new DeviceStreams({
    ...ports.deviceSessions,
    directory: sessions,
    streams: audioStreams,
    heartbeats: ports.devices.heartbeats,
  });
  const server = new FrontServer({
    streams,
    routes: createRoutes(ports),
    authenticator: access.authenticator,
    live: {
      source: createLiveSource(shared),
      policy: createViewerPolicy(access.authenticator, sessions),
      tickets: access.liveTickets,
      revocations: access.revocations,
      limits: DEFAULT_LIVE_LIMITS,
    },
    limits: {
      ...DEFAULT_HTTP_LIMITS,
      jsonBytes: config.jsonBytes,
      uploadBytes: config.uploadBytes,
    },
    rates: scaledRates(config.rateLimitFactor),
    idempotency: {
      book: new PostgresIdempotencyBook(shared.pool),
      secret: shared.keys.pepper,
    },
    allowedOrigins: config.allowedOrigins,
    uploadFolder: shared.blobs.temporaryFolder,
    trustProxy: config.trustProxy,
    observer,
    host: config.host,
    port: config.port,
    log,
    runtime,
  });
  queues.add(server);
  const { port } = await server.start();
  listening = port;
  const drain = async (): Promise<void> => {
    await server.drain(config.drainMs);
    await server.stop();
  };
  stack.push("front", drain, config.drainMs + UPLOADS_IN_HAND_MS);
  return port;
}

/** A host that one can connect to. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

function scaledRates(factor: number): RateLimitSettings {
  const scale = factor === 0 ? 1_000_000 : factor;
  const entries = Object.entries(DEFAULT_RATE_LIMITS).map(([name, limit]) => [
    name,
    { perMinute: limit.perMinute * scale, burst: limit.burst * scale },
  ]);
  return Object.fromEntries(entries) as RateLimitSettings;
}

type Erasure = ReturnType<typeof createErasure>;

function createPorts(
  context: AppContext,
  access: Access,
  { directory, backlog }: { directory: PostgresSessions; backlog: UploadBacklog },
  publicUrl: () => string,
): ApiPorts {
  const { shared } = context;
  const { notifier } = shared;
  const segments = new PostgresSegments(shared.pool);
  const groups = createGroupPorts(context, { directory, notifier });
  const erasure = createErasure(context, access.revocations);
  const heartbeats = createHeartbeats(context);
  return {
    ...createAccountPorts(context, access, { eraser: erasure.accounts, heartbeats }, publicUrl),
    ...groups,
    webhooks: createWebhookPorts(context, new WorkspaceStore(shared.pool)),
    ...createConversationPorts(context, {
      directory,
      notifier,
      access,
      erasure,
      groups,
      heartbeats,
      backlog,
    }),
    ...createSessionPorts(context, {
      directory,
      notifier,
      segments,
      ...groups.workshops,
      ...access,
    }),
    docs: { asyncApi: asyncApiDocument },
    graph: createGraphPorts(context, { directory, workspaces: new WorkspaceStore(shared.pool) }),
    queries: createQueryPorts(context, directory),
    health: healthPorts(context),
  };
}

/** People, workspaces, devices, and what administrators do to them. */
function createAccountPorts(
  context: AppContext,
  access: Access,
  { eraser, heartbeats }: { eraser: Erasure["accounts"]; heartbeats: Heartbeats },
  publicUrl: () => string,
): Pick<ApiPorts, "auth" | "serviceKeys" | "users" | "admin" | "workspaces" | "devices"> {
  const { clock, shared } = context;
  const { pool } = shared;
  const { cursorKey } = shared.keys;
  const { users, revocations, authenticator, pairing, passwords, audit } = access;
  const workspaces = new WorkspaceStore(pool);
  const devices = new DeviceStore(pool);
  const elevations = new PostgresElevations(pool);
  return {
    ...createIdentityPorts(context, access, workspaces, publicUrl),
    users: { users, workspaces, passwords, revocations, cursorKey, eraser },
    admin: {
      elevations,
      log: audit,
      revocations,
      cursorKey,
      parked: new PostgresParkedCommands(pool),
      ...createOverviewPorts(context),
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

interface SessionParts {
  directory: PostgresSessions;
  notifier: CommandNotifier;
  access: Access;
  erasure: Erasure;
  groups: ReturnType<typeof createGroupPorts>;
  heartbeats: Heartbeats;
  backlog: UploadBacklog;
}

/** Sessions, from their start to their deletion. */
function createConversationPorts(
  context: AppContext,
  { directory, notifier, access, erasure, groups, heartbeats, backlog }: SessionParts,
): Pick<ApiPorts, "deviceSessions" | "sessions" | "upload" | "jobs" | "summaries"> {
  const { config, log, shared } = context;
  const { pool, blobs, commands: actors } = shared;
  const { cursorKey } = shared.keys;
  const segments = new PostgresSegments(pool);
  const { workshops, characters } = groups.workshops;
  const chunks = new PostgresChunkStore(pool);
  context.queues.add(chunks);
  return {
    deviceSessions: {
      sessions: new PostgresDeviceSessions(pool),
      workshops,
      notifier,
      log,
      publicUrl: config.publicUrl,
    },
    sessions: {
      directory,
      awaited: new PostgresAwaitedAudio(pool),
      patience: config.patience,
      chunks: new PostgresChunkListing(pool),
      segments,
      gaps: segments,
      assignees: directory,
      edits: new PostgresSegmentEdits(pool),
      names: characters,
      sessionEdits: new PostgresSessionEdits(pool),
      workshops,
      revocations: access.revocations,
      actors,
      eraser: erasure.sessions,
      cursorKey,
    },
    upload: {
      directory,
      chunks,
      blobs,
      notifier,
      backlog,
      log,
      heartbeats,
    },
    jobs: {
      directory,
      jobs: new PostgresTranscriptionJobs(pool),
      allJobs: new PostgresAllJobs(pool),
      segments,
      settings: new PostgresRedoSettings(pool),
      actors,
      engines: ["pocketsphinx"],
      languages: ["en"],
      cursorKey,
    },
    summaries: {
      directory,
      summaries: new PostgresSummaries(pool),
      onRequested: () => shared.line.publish(JOBS_WAITING, new Uint8Array()),
      cursorKey,
    },
  };
}
