import type { HealthCheck } from "./api/health.ts";
import { type ApiPorts, createRoutes } from "./api/routes.ts";
import { requireSession } from "./api/sessions-access.ts";
import type { CommandNotifier } from "./api/sessions-outbox.ts";
import { createErasure } from "./app-erasure.ts";
import { createGroupPorts } from "./app-groups.ts";
import { createQueryPorts } from "./app-queries.ts";
import type { AppContext, Shared } from "./app-shared.ts";
import { createWebhookPorts } from "./app-webhooks.ts";
import { CredentialAuthenticator } from "./auth/credential-authenticator.ts";
import { GuestEntry } from "./auth/guest-entry.ts";
import { LiveTickets } from "./auth/live-tickets.ts";
import { Pairing } from "./auth/pairing.ts";
import { PasswordHasher } from "./auth/password-hasher.ts";
import { SignIn } from "./auth/sign-in.ts";
import { Tokens } from "./auth/tokens.ts";
import { DEFAULT_HTTP_LIMITS } from "./front/http.ts";
import { DEFAULT_LIVE_LIMITS } from "./front/live-limits.ts";
import type { LiveSource, ViewerPolicy } from "./front/live-source.ts";
import { DEFAULT_RATE_LIMITS, type RateLimitSettings } from "./front/rate-limits.ts";
import { FrontServer } from "./front/server.ts";
import { AttemptStore } from "./store/attempts.ts";
import { PostgresAudit } from "./store/audit.ts";
import { PostgresChunkStore } from "./store/chunks.ts";
import { PostgresChunkListing } from "./store/chunks-listing.ts";
import { DeviceStore } from "./store/devices.ts";
import { PostgresElevations } from "./store/elevations.ts";
import { GuestStore } from "./store/guests.ts";
import { PostgresIdempotencyBook } from "./store/idempotency.ts";
import { PostgresTranscriptionJobs } from "./store/jobs.ts";
import { LoginStore } from "./store/logins.ts";
import { PairingStore } from "./store/pairing.ts";
import { pingDatabase } from "./store/ping.ts";
import { PostgresRedoSettings } from "./store/redo-settings.ts";
import { PostgresSegmentEdits } from "./store/segment-edits.ts";
import { PostgresSegments } from "./store/segments.ts";
import { PostgresSessionEdits } from "./store/session-edits.ts";
import { PostgresSessions } from "./store/sessions.ts";
import { PostgresDeviceSessions } from "./store/sessions-device.ts";
import { PostgresSummaries } from "./store/summaries.ts";
import { TicketStore } from "./store/tickets.ts";
import { UserStore } from "./store/users.ts";
import { WorkspaceStore } from "./store/workspaces.ts";
import { WorkspaceEditStore } from "./store/workspaces-edit.ts";
import { WorkspaceMemberStore } from "./store/workspaces-members.ts";

/** The role that serves REST and the live channel. Returns its port. */
export async function startFront(context: AppContext): Promise<number> {
  const { config, log, clock, stack, shared } = context;
  const access = createAccess(context);
  const sessions = new PostgresSessions(shared.pool);
  const server = new FrontServer({
    routes: createRoutes(createPorts(context, access, sessions)),
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
    host: config.host,
    port: config.port,
    log,
    clock,
  });
  const { port } = await server.start();
  stack.push("front", async () => {
    await server.drain();
    await server.stop();
  });
  return port;
}

function scaledRates(factor: number): RateLimitSettings {
  const scale = factor === 0 ? 1_000_000 : factor;
  const entries = Object.entries(DEFAULT_RATE_LIMITS).map(([name, limit]) => [
    name,
    { perMinute: limit.perMinute * scale, burst: limit.burst * scale },
  ]);
  return Object.fromEntries(entries) as RateLimitSettings;
}

type Access = ReturnType<typeof createAccess>;
type Erasure = ReturnType<typeof createErasure>;

/** Who callers are, and what they may begin with. */
function createAccess({ clock, stack, shared }: AppContext) {
  const { pool, keys, revocations } = shared;
  const audit = new PostgresAudit(pool);
  const tokens = new Tokens(keys.ring, clock);
  const guests = new GuestStore(pool);
  const logins = new LoginStore(pool);
  const users = new UserStore(pool);
  const attempts = new AttemptStore(pool, clock);
  const passwords = new PasswordHasher();
  const pairingStore = new PairingStore(pool);
  const authenticator = new CredentialAuthenticator({
    tokens,
    logins,
    guests,
    deviceKeys: pairingStore,
    revocations,
    clock,
  });
  stack.push("authenticator", () => authenticator.stop());
  return {
    revocations,
    audit,
    users,
    passwords,
    authenticator,
    signIn: new SignIn({
      accounts: users,
      logins,
      guests,
      attempts,
      passwords,
      tokens,
      revocations,
      clock,
    }),
    guestEntry: new GuestEntry(guests, tokens, clock),
    liveTickets: new LiveTickets(new TicketStore(pool), authenticator, clock),
    pairing: new Pairing({ book: pairingStore, attempts, revocations, pepper: keys.pepper, clock }),
  };
}

function createPorts(context: AppContext, access: Access, directory: PostgresSessions): ApiPorts {
  const { version, clock, shared } = context;
  const notifier = createNotifier(shared);
  const groups = createGroupPorts(context, { directory, audit: access.audit, notifier });
  const erasure = createErasure(context, access.revocations);
  return {
    ...createAccountPorts(context, access, erasure.accounts),
    ...groups,
    webhooks: createWebhookPorts(context, new WorkspaceStore(shared.pool)),
    ...createSessionPorts(context, { directory, notifier, access, erasure, groups }),
    queries: createQueryPorts(context, directory),
    health: { checks: { run: () => runChecks(shared) }, version, clock },
  };
}

/** People, workspaces, devices, and what administrators do to them. */
function createAccountPorts(
  { clock, shared }: AppContext,
  access: Access,
  eraser: Erasure["accounts"],
): Pick<ApiPorts, "auth" | "users" | "admin" | "workspaces" | "devices"> {
  const { pool, keys } = shared;
  const { cursorKey } = keys;
  const { users, revocations, authenticator, pairing, passwords, audit } = access;
  const { signIn, guestEntry, liveTickets } = access;
  const workspaces = new WorkspaceStore(pool);
  const devices = new DeviceStore(pool);
  const elevations = new PostgresElevations(pool);
  return {
    auth: { signIn, users, keys: keys.ring, guestEntry, liveTickets },
    users: { users, workspaces, passwords, revocations, cursorKey, eraser },
    admin: { elevations, log: audit, revocations, clock, cursorKey },
    workspaces: {
      workspaces,
      members: new WorkspaceMemberStore(pool),
      workspaceEdits: new WorkspaceEditStore(pool),
      users,
      revocations,
      cursorKey,
    },
    devices: { devices, workspaces, pairing, authenticator, clock, cursorKey },
  };
}

interface SessionParts {
  directory: PostgresSessions;
  notifier: CommandNotifier;
  access: Access;
  erasure: Erasure;
  groups: ReturnType<typeof createGroupPorts>;
}

/** Sessions, from their start to their deletion. */
function createSessionPorts(
  { config, log, shared }: AppContext,
  { directory, notifier, access, erasure, groups }: SessionParts,
): Pick<ApiPorts, "deviceSessions" | "sessions" | "upload" | "jobs" | "summaries"> {
  const { pool, blobs, commands: actors } = shared;
  const { cursorKey } = shared.keys;
  const segments = new PostgresSegments(pool);
  const { workshops, characters } = groups.workshops;
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
    upload: { directory, chunks: new PostgresChunkStore(pool), blobs, notifier, log },
    jobs: {
      directory,
      jobs: new PostgresTranscriptionJobs(pool),
      segments,
      settings: new PostgresRedoSettings(pool),
      actors,
      engines: ["pocketsphinx"],
      languages: ["en"],
      cursorKey,
    },
    summaries: { directory, summaries: new PostgresSummaries(pool), cursorKey },
  };
}

/** Publishes committed commands at once; the actors' sweep finds what this loses. */
function createNotifier({ commands }: Shared): CommandNotifier {
  return {
    async notify(rows) {
      await Promise.all(
        rows.map(({ id, sessionId, command }) => commands.send(sessionId, command, id)),
      );
    },
  };
}

function createLiveSource({ fanout, liveLog: log }: Shared): LiveSource {
  return {
    follow: (sessionId, onFrames) => fanout.follow(sessionId, onFrames),
    replay: (sessionId, fromSeq, limit) => log.replay(sessionId, fromSeq, limit),
    snapshot: (sessionId) => log.snapshot(sessionId),
  };
}

function createViewerPolicy(
  authenticator: CredentialAuthenticator,
  directory: PostgresSessions,
): ViewerPolicy {
  return {
    async check(principal, sessionId) {
      const standing = await authenticator.revalidate(principal);
      await requireSession(directory, standing, sessionId, "session.content");
      return { sessionId };
    },
  };
}

async function runChecks({ pool, bus, placement }: Shared): Promise<Record<string, HealthCheck>> {
  const database = await pingDatabase(pool).then(
    (): HealthCheck => ({ status: "ok" }),
    (): HealthCheck => ({ status: "down", message: "PostgreSQL does not answer." }),
  );
  const nats = await bus.rtt().then(
    (): HealthCheck => ({ status: "ok" }),
    (): HealthCheck => ({
      status: "degraded",
      message: "NATS does not answer; audio is stored and will be transcribed later.",
    }),
  );
  const workers: HealthCheck =
    placement.status().length > 0
      ? { status: "ok" }
      : { status: "degraded", message: "No worker is running; audio is stored and waits." };
  return { database, nats, workers };
}
