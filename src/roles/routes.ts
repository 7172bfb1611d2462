import { type GuestOptions, guestRoutes } from "../features/accounts/guests.ts";
import { type LiveTicketOptions, liveTicketRoutes } from "../features/accounts/live-tickets.ts";
import { type MagicLinkRouteOptions, magicLinkRoutes } from "../features/accounts/magic-links.ts";
import { type OAuthRouteOptions, oauthRoutes } from "../features/accounts/oauth-routes.ts";
import { type PasswordOptions, passwordRoutes } from "../features/accounts/passwords.ts";
import { type AuthOptions, authRoutes } from "../features/accounts/sign-in-routes.ts";
import {
  type UserAccessOptions,
  type UserEditOptions,
  type UserOptions,
  userAccessRoutes,
  userEditRoutes,
  userRoutes,
} from "../features/accounts/users-routes.ts";
import { type HealthOptions, healthRoutes } from "../features/admin/health.ts";
import { type OutboxOptions, outboxRoutes } from "../features/admin/outbox.ts";
import { type OverviewOptions, overviewRoutes } from "../features/admin/overview.ts";
import { type ElevationOptions, elevationRoutes } from "../features/audit/elevation.ts";
import { type AuditOptions, auditRoutes } from "../features/audit/routes.ts";
import { type ConcernOptions, concernRoutes } from "../features/concerns/routes.ts";
import { type TriageOptions, triageRoutes } from "../features/concerns/triage-routes.ts";
import { type HeartbeatOptions, heartbeatRoutes } from "../features/devices/heartbeat-routes.ts";
import { type PairingRouteOptions, pairingRoutes } from "../features/devices/pairing-routes.ts";
import { type DeviceOptions, deviceRoutes } from "../features/devices/routes.ts";
import { type UserEraseOptions, userEraseRoutes } from "../features/erasure/account-erasure.ts";
import {
  type SessionDeleteOptions,
  sessionDeleteRoutes,
} from "../features/erasure/session-erasure.ts";
import { graphEntityRoutes } from "../features/graph/entity-routes.ts";
import { type GraphOptions, graphRoutes } from "../features/graph/routes.ts";
import { type JobOptions, jobRoutes } from "../features/jobs/routes.ts";
import { type QueryOptions, queryRoutes } from "../features/questions/routes.ts";
import {
  type WorkspaceSearchOptions,
  workspaceSearchRoutes,
} from "../features/questions/search.ts";
import {
  type DeviceSessionOptions,
  deviceSessionRoutes,
} from "../features/recording/device-sessions.ts";
import { type SessionAudioOptions, sessionAudioRoutes } from "../features/recording/playback.ts";
import { type SessionStartOptions, sessionStartRoutes } from "../features/recording/start.ts";
import { type UploadAudioOptions, uploadAudioRoutes } from "../features/recording/upload.ts";
import type { SessionWishOptions } from "../features/sessions/actors.ts";
import { type SessionEditOptions, sessionEditRoutes } from "../features/sessions/edit.ts";
import { type SessionMemberOptions, sessionMemberRoutes } from "../features/sessions/members.ts";
import { type SessionOptions, sessionRoutes } from "../features/sessions/routes.ts";
import {
  type SummarisationJobOptions,
  type SummaryOptions,
  summarisationJobRoutes,
  summaryRoutes,
} from "../features/summaries/routes.ts";
import { type ChunkOptions, chunkRoutes } from "../features/transcript/chunks.ts";
import { type SpeakerClaimOptions, speakerClaimRoutes } from "../features/transcript/claims.ts";
import {
  type CompletenessOptions,
  completenessRoutes,
} from "../features/transcript/completeness.ts";
import {
  type SegmentEditOptions,
  segmentEditRoutes,
  speakerEditRoutes,
} from "../features/transcript/edit-routes.ts";
import { type TranscriptOptions, transcriptRoutes } from "../features/transcript/export.ts";
import {
  type TranscriptionJobOptions,
  transcriptionJobRoutes,
} from "../features/transcript/jobs-routes.ts";
import { redactionRoutes } from "../features/transcript/redaction.ts";
import { type RedoOptions, redoRoutes } from "../features/transcript/redo.ts";
import { type SegmentOptions, segmentRoutes } from "../features/transcript/segments.ts";
import {
  type WebhookDeliveryOptions,
  webhookDeliveryRoutes,
} from "../features/webhooks/delivery-routes.ts";
import { type WebhookOptions, webhookRoutes } from "../features/webhooks/routes.ts";
import {
  type CharacterOptions,
  characterRoutes,
} from "../features/workspaces/characters-routes.ts";
import {
  type WorkspaceMemberOptions,
  workspaceMemberRoutes,
} from "../features/workspaces/members-routes.ts";
import {
  type WorkspaceEditOptions,
  type WorkspaceOptions,
  workspaceEditRoutes,
  workspaceRoutes,
} from "../features/workspaces/routes.ts";
import {
  type ServiceKeyRouteOptions,
  serviceKeyRoutes,
} from "../features/workspaces/service-key-routes.ts";
import { type WorkshopOptions, workshopRoutes } from "../features/workspaces/workshops-routes.ts";
import { type DocsOptions, docsRoutes } from "../rest/docs.ts";
import type { Route } from "../rest/route.ts";

/** Dependencies of all groups of routes. */
export interface ApiOptions {
  auth: AuthOptions &
    GuestOptions &
    LiveTicketOptions &
    MagicLinkRouteOptions &
    OAuthRouteOptions &
    PasswordOptions;
  serviceKeys: ServiceKeyRouteOptions;
  users: UserOptions & UserAccessOptions & UserEraseOptions & UserEditOptions;
  admin: ElevationOptions & AuditOptions & OutboxOptions & OverviewOptions;
  workspaces: WorkspaceOptions & WorkspaceMemberOptions & WorkspaceEditOptions;
  workshops: WorkshopOptions & CharacterOptions;
  webhooks: WebhookOptions & WebhookDeliveryOptions;
  devices: DeviceOptions & HeartbeatOptions & PairingRouteOptions;
  deviceSessions: DeviceSessionOptions;
  sessions: SessionOptions &
    ChunkOptions &
    SegmentOptions &
    SegmentEditOptions &
    TranscriptOptions &
    SpeakerClaimOptions &
    SessionWishOptions &
    SessionEditOptions &
    SessionDeleteOptions;
  concerns: ConcernOptions & TriageOptions;
  upload: UploadAudioOptions;
  jobs: TranscriptionJobOptions & RedoOptions & JobOptions;
  recordings: SessionAudioOptions & CompletenessOptions;
  ownSessions: SessionStartOptions & SessionMemberOptions;
  graph: GraphOptions;
  summaries: SummaryOptions & SummarisationJobOptions;
  queries: QueryOptions & WorkspaceSearchOptions;
  health: HealthOptions;
  docs: DocsOptions;
}

const API_INFO = { title: "Voice session service", version: "1.0", basePath: "/api" };

/** Creates every route of the interface; routes are registered nowhere else. */
export function createRoutes(options: ApiOptions): Route[] {
  const { auth, users, workspaces, devices, sessions } = options;
  const routes: Route[] = [
    ...authRoutes(auth),
    ...guestRoutes(auth),
    ...liveTicketRoutes(auth),
    ...magicLinkRoutes(auth),
    ...oauthRoutes(auth),
    ...passwordRoutes(auth),
    ...serviceKeyRoutes(options.serviceKeys),
    ...userRoutes(users),
    ...userAccessRoutes(users),
    ...userEditRoutes(users),
    ...userEraseRoutes(users),
    ...elevationRoutes(options.admin),
    ...auditRoutes(options.admin),
    ...overviewRoutes(options.admin),
    ...outboxRoutes(options.admin),
    ...workspaceRoutes(workspaces),
    ...workspaceMemberRoutes(workspaces),
    ...workspaceEditRoutes(workspaces),
    ...workshopRoutes(options.workshops),
    ...characterRoutes(options.workshops),
    ...webhookRoutes(options.webhooks),
    ...webhookDeliveryRoutes(options.webhooks),
    ...pairingRoutes(devices),
    ...deviceRoutes(devices),
    ...heartbeatRoutes(devices),
    ...deviceSessionRoutes(options.deviceSessions),
    ...uploadAudioRoutes(options.upload),
    ...sessionRoutes(sessions),
    ...chunkRoutes(sessions),
    ...segmentRoutes(sessions),
    ...transcriptRoutes(sessions),
    ...speakerClaimRoutes(sessions),
    ...transcriptionJobRoutes(options.jobs),
    ...redoRoutes(options.jobs),
    ...summaryRoutes(options.summaries),
    ...summarisationJobRoutes(options.summaries),
    ...segmentEditRoutes(sessions),
    ...speakerEditRoutes(sessions),
    ...sessionEditRoutes(sessions),
    ...sessionDeleteRoutes(sessions),
    ...redactionRoutes(sessions),
    ...concernRoutes(options.concerns),
    ...triageRoutes(options.concerns),
    ...sessionAudioRoutes(options.recordings),
    ...completenessRoutes(options.recordings),
    ...jobRoutes(options.jobs),
    ...sessionStartRoutes(options.ownSessions),
    ...sessionMemberRoutes(options.ownSessions),
    ...graphRoutes(options.graph),
    ...graphEntityRoutes(options.graph),
    ...queryRoutes(options.queries),
    ...workspaceSearchRoutes(options.queries),
    ...healthRoutes(options.health),
    ...docsRoutes(() => routes, API_INFO, options.docs),
  ];
  return routes;
}
