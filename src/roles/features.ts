import { createAdmin } from "../conversations/admin/overview.ts";
import { createConcerns } from "../conversations/concerns/triage-routes.ts";
import { userEraseRoutes } from "../conversations/erasure/account-erasure.ts";
import { createErasure } from "../conversations/erasure/feature.ts";
import { createGuests } from "../conversations/guests/entry.ts";
import { GuestStore } from "../conversations/guests/store.ts";
import { createQuestions } from "../conversations/questions/feature.ts";
import { createGraph } from "../conversations/questions/graph/feature.ts";
import type { AudioWatch } from "../conversations/recording/durable-files/audio-watch.ts";
import { createRecording } from "../conversations/recording/feature.ts";
import {
  PostgresRedactedSpans,
  RecordingStore,
} from "../conversations/recording/playback-store.ts";
import { createSessions } from "../conversations/sessions/feature.ts";
import { SessionStore } from "../conversations/sessions/store.ts";
import { createSummaries } from "../conversations/summaries/routes.ts";
import { createJobs } from "../conversations/transcript/all-jobs-routes.ts";
import { createTranscript } from "../conversations/transcript/feature.ts";
import { createUploads } from "../conversations/uploads/feature.ts";
import { createVoices } from "../conversations/voices/feature.ts";
import { asyncApiDocument } from "../http/async-api.ts";
import { WorkerClient } from "../inference/worker-client.ts";
import { WorkerVoices } from "../inference/worker-voices.ts";
import { mcpRoutes } from "../mcp/feature.ts";
import { createCompat } from "../openai-deepgram/feature.ts";
import type { OutboxBacklog } from "../postgres/outbox-backlog.ts";
import { docsRoutes } from "../rest/docs.ts";
import { GUIDE } from "../rest/guide.ts";
import type { Route } from "../rest/route.ts";
import { createTelephony } from "../telephony/routes.ts";
import { createAccounts } from "../tenancy/accounts/feature.ts";
import { createMailing } from "../tenancy/accounts/mailing.ts";
import { createAudit } from "../tenancy/audit/routes.ts";
import { createDevices } from "../tenancy/devices/feature.ts";
import { AddressGuard } from "../tenancy/webhooks/address-guard.ts";
import { createWebhooks } from "../tenancy/webhooks/feature.ts";
import { WEBHOOK_MESSAGES } from "../tenancy/webhooks/messages.ts";
import { WebhookSecrets } from "../tenancy/webhooks/secrets.ts";
import { createWorkspaces } from "../tenancy/workspaces/feature.ts";
import { createInvitations } from "../tenancy/workspaces/invitations/feature.ts";
import { createOwnerNotices } from "../tenancy/workspaces/invitations/owner-notices.ts";
import { WorkspaceStore } from "../tenancy/workspaces/store.ts";
import { JOBS_WAITING } from "../wire/subjects.ts";
import { createAuthenticator, createOAuthProviders, openMail } from "./accounts.ts";
import { erasureEffects } from "./erasure.ts";
import { healthPorts } from "./health.ts";
import { createFrameReaders } from "./live.ts";
import { createExtractor, createRetriever, questionModelOf } from "./queries.ts";
import { type AppContext, featureContext } from "./shared.ts";

interface Given {
  backlog: OutboxBacklog;
  publicUrl: () => string;
}

/** Everything that is served over REST, from the ground up: each feature gets what lies below it. */
export function createFeatures(app: AppContext, { backlog, publicUrl }: Given) {
  const context = featureContext(app);
  const { config, shared } = app;
  const { patience } = config;
  const people = createPeople(app, publicUrl);
  const { authenticator, workspaces, heartbeats } = people;
  const webhooks = createWebhooks(context, {
    ...{ workspaces, elevations: people.elevations },
    endpoints: new AddressGuard({ allowPrivate: config.webhookAllowPrivate }),
    secrets: new WebhookSecrets(shared.keys.webhookKey),
  });
  const voices = openVoices(app, workspaces);
  const sessions = createSessions(context, { ...people, patience, suggestions: voices.suggester });
  const { directory, awaited } = sessions;
  const guests = createEntry(app, people, directory, publicUrl);
  const onRequested = () => shared.line.publish(JOBS_WAITING, new Uint8Array());
  const summaries = createSummaries(context, { directory, workspaces, onRequested });
  const hearing = { directory, awaited, patience, notes: summaries.notes };
  const transcript = createTranscript(context, hearing);
  const retriever = createRetriever(app);
  const questions = createQuestions(context, {
    ...{ directory, workspaces, retriever, model: questionModelOf(app) },
  });
  const { workspaceSessions } = questions;
  const jobs = createJobs(context, { directory, redo: transcript.redo });
  const concerns = createConcerns(context, { directory });
  const recording = openRecording(app, people, { directory, backlog });
  const extractor = createExtractor(app);
  const graph = createGraph(context, { directory, workspaces, workspaceSessions, extractor });
  const erasure = createErasure(context, { directory, ...erasureEffects(shared) });
  const programs = openPrograms(app, { ...people, directory, backlog, recording, erasure });
  const admin = createAdmin(context, {
    workers: () => shared.placement.status(),
    ...{ leaseMs: config.leaseMs, warnings: shared.unsafe },
    ...{ verification: shared.verification, moving: shared.moving },
    health: healthPorts(app),
  });
  return {
    authenticator,
    directory,
    heartbeats,
    liveTickets: people.liveTickets,
    guests: people.guests,
    deviceSessions: recording.deviceSessions,
    ...{ compat: programs.live, calls: programs.calls, storing: programs.storing },
    routes: withDocuments(config.publicUrl, [
      ...people.routes,
      ...sessions.routes,
      ...recording.routes,
      ...programs.routes,
      ...jobs.routes,
      ...transcript.routes,
      ...summaries.routes,
      ...questions.routes,
      ...graph.routes,
      ...concerns.routes,
      ...guests.routes,
      ...voices.routes,
      ...webhooks.routes,
      ...mcpRoutes({ ...app, publicUrl, allowedOrigins: config.allowedOrigins }),
      ...erasure.routes,
      ...userEraseRoutes({ eraser: erasure.accounts, proof: people.proof }),
      ...admin.routes,
    ]),
  };
}

/**
 * The routes in the order of the OpenAPI document, by tags, and behind them those of the documents, with
 * the address at which the service is reached where the operator has told it.
 */
function withDocuments(publicUrl: string | undefined, given: readonly Route[]): Route[] {
  const info = {
    title: "Voice session service",
    version: "1.0",
    description: GUIDE,
    basePath: "/api",
    webhooks: WEBHOOK_MESSAGES,
    publicUrl,
  };
  const documents = docsRoutes(() => routes, info, { asyncApi: asyncApiDocument });
  const routes = [...given, ...documents];
  return routes;
}

/** Audio, in and out. */
function openRecording(
  app: AppContext,
  { devices, heartbeats, workshops, authenticator }: ReturnType<typeof createPeople>,
  given: { directory: SessionStore; backlog: OutboxBacklog },
) {
  return createRecording(featureContext(app), {
    ...{
      directory: given.directory,
      backlog: intakeOf(app.shared.audioWatch, given.backlog),
      devices,
      heartbeats,
      workshops,
      authenticator,
    },
    ...{ blobs: app.shared.blobs, verified: app.shared.verified, mending: app.shared.mending },
    ...{ sounds: app.shared.sounds, converter: app.shared.converter },
    ...{ publicUrl: app.config.publicUrl, disk: app.shared.audioWatch },
  });
}

/** What programs use: transcription for other services' clients, telephone calls, and whole files. */
function openPrograms(
  app: AppContext,
  given: Pick<ReturnType<typeof createPeople>, "authenticator" | "liveTickets"> & {
    directory: SessionStore;
    backlog: OutboxBacklog;
    recording: ReturnType<typeof createRecording>;
    erasure: ReturnType<typeof createErasure>;
  },
) {
  const { authenticator, directory, backlog, recording } = given;
  const context = featureContext(app);
  const { files, deviceSessions } = recording;
  const common = { directory, files, deviceSessions: deviceSessions.sessions };
  const compat = createCompat(context, {
    ...{ ...common, authenticator, frames: createFrameReaders(app) },
    eraser: given.erasure.sessions,
  });
  const uploads = createUploads(context, {
    ...{ ...common, backlog: intakeOf(app.shared.audioWatch, backlog) },
    ...{ blobs: app.shared.blobs, mostBytes: app.config.fileBytes },
  });
  const telephony = createTelephony(context, {
    ...{ ...common, liveTickets: given.liveTickets, publicUrl: app.config.publicUrl },
  });
  return {
    ...{ live: compat.live, calls: telephony.calls, storing: uploads.storing },
    routes: [...uploads.routes, ...compat.routes, ...telephony.routes],
  };
}

/** How guests come in. */
function createEntry(
  app: AppContext,
  { guests, tokens, authenticator, elevations }: ReturnType<typeof createPeople>,
  directory: SessionStore,
  publicUrl: () => string,
) {
  const { guestsPerSession, rateLimitFactor } = app.config;
  return createGuests(featureContext(app), {
    ...{ guests, tokens, directory, elevations, authenticator, guestsPerSession, publicUrl },
    rateFactor: rateScale(rateLimitFactor),
  });
}

/** What rate limits are multiplied by: a factor of 0 switches them off. */
export function rateScale(factor: number): number {
  return factor === 0 ? 1_000_000 : factor;
}

/** People, what they share, and their devices. */
function createPeople(app: AppContext, publicUrl: () => string) {
  const context = featureContext(app);
  const { config, shared, log, stack } = app;
  const { ring, pepper, addressKey } = shared.keys;
  const authenticator = createAuthenticator(context, ring);
  const audit = createAudit(context, { addressKey });
  const guests = new GuestStore(context.pool);
  const { elevations } = audit;
  const mail = openMail(config, log, stack);
  const mailing = createMailing(context, mail, config.smtpUrl !== undefined);
  const notices = createOwnerNotices(context, { mail, publicUrl });
  const accounts = createAccounts(context, {
    ring,
    authenticator,
    failures: audit.failures,
    workspaces: new WorkspaceStore(context.pool),
    guests,
    mailing,
    elevations,
    notices,
    providers: createOAuthProviders(config),
    publicUrl,
    signInUrl: config.signInUrl,
    allowedOrigins: config.allowedOrigins,
    addressKey,
  });
  const { users, tokens, attempts, liveTickets, proof } = accounts;
  const invited = createInvitations(context, {
    ...{ attempts, mailing, publicUrl, users, signIn: accounts.signIn, failures: audit.failures },
    signsUp: config.invitedSignUp,
  });
  const { invitations, invitationBook } = invited;
  const giving = { invitations, invitationBook, elevations, notices };
  const groups = createWorkspaces(context, giving);
  const { workspaces, workshops, characters } = groups;
  const pairing = { attempts, authenticator, workspaces, pepper };
  const { devices, heartbeats, routes } = createDevices(context, pairing);
  return {
    ...{ authenticator, users, liveTickets, workspaces, workshops, characters },
    ...{ ...giving, guests, proof, tokens, devices, heartbeats },
    routes: [...accounts.routes, ...groups.routes, ...invited.routes, ...routes, ...audit.routes],
  };
}

/** Remembered voices, with the workers that compare them. */
function openVoices(app: AppContext, workspaces: WorkspaceStore) {
  const { config, clock, shared } = app;
  const { pool, placement, blobs, sounds, verified, keys } = shared;
  const files = { blobs, sounds, verified };
  const client = new WorkerClient({ tls: config.tls, now: () => clock.now() });
  return createVoices(featureContext(app), {
    directory: new SessionStore(pool),
    workspaces,
    recordings: new RecordingStore(pool, files, new PostgresRedactedSpans(pool)),
    voices: new WorkerVoices({ placement, client, key: config.workerKey }),
    voiceKey: keys.voiceKey,
  });
}

/**
 * What an upload is refused by before it is received: a disk that hangs, commands that pile up. Streams
 * need no disk for their audio. `check` throws `unavailable` or `overloaded`.
 */
export function intakeOf(
  watch: Pick<AudioWatch, "admit">,
  backlog: Pick<OutboxBacklog, "check">,
): Pick<OutboxBacklog, "check"> {
  return {
    check(sessionId) {
      watch.admit();
      backlog.check(sessionId);
    },
  };
}
