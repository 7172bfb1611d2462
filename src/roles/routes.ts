import { type AuthPorts, authRoutes } from "../features/accounts/auth.ts";
import { type GuestPorts, guestRoutes } from "../features/accounts/auth-guest.ts";
import { type LiveTicketPorts, liveTicketRoutes } from "../features/accounts/auth-live-ticket.ts";
import { type MagicLinkPorts, magicLinkRoutes } from "../features/accounts/auth-magic-link.ts";
import { type OAuthPorts, oauthRoutes } from "../features/accounts/auth-oauth.ts";
import { type PasswordPorts, passwordRoutes } from "../features/accounts/auth-password.ts";
import { type UserPorts, userRoutes } from "../features/accounts/users.ts";
import { type UserAccessPorts, userAccessRoutes } from "../features/accounts/users-access.ts";
import { type UserEditPorts, userEditRoutes } from "../features/accounts/users-edit.ts";
import { type OutboxPorts, outboxRoutes } from "../features/admin/admin-outbox.ts";
import { type OverviewPorts, overviewRoutes } from "../features/admin/admin-overview.ts";
import { type HealthPorts, healthRoutes } from "../features/admin/health.ts";
import { type AuditPorts, auditRoutes } from "../features/audit/admin-audit.ts";
import { type ElevationPorts, elevationRoutes } from "../features/audit/admin-elevation.ts";
import { type ConcernPorts, concernRoutes } from "../features/concerns/concerns.ts";
import { type TriagePorts, triageRoutes } from "../features/concerns/concerns-triage.ts";
import { type DevicePorts, deviceRoutes } from "../features/devices/devices.ts";
import { type HeartbeatPorts, heartbeatRoutes } from "../features/devices/devices-heartbeat.ts";
import { type PairingPorts, pairingRoutes } from "../features/devices/pairing-routes.ts";
import {
  type SessionDeletePorts,
  sessionDeleteRoutes,
} from "../features/erasure/sessions-delete.ts";
import { type UserErasePorts, userEraseRoutes } from "../features/erasure/users-erase.ts";
import { type GraphPorts, graphRoutes } from "../features/graph/graph.ts";
import { graphEntityRoutes } from "../features/graph/graph-entities.ts";
import { type JobPorts, jobRoutes } from "../features/jobs/jobs.ts";
import { type QueryPorts, queryRoutes } from "../features/questions/queries.ts";
import {
  type WorkspaceSearchPorts,
  workspaceSearchRoutes,
} from "../features/questions/workspace-search.ts";
import {
  type DeviceSessionPorts,
  deviceSessionRoutes,
} from "../features/recording/device-sessions.ts";
import { type SessionAudioPorts, sessionAudioRoutes } from "../features/recording/session-audio.ts";
import {
  type SessionStartPorts,
  sessionStartRoutes,
} from "../features/recording/sessions-start.ts";
import { type UploadAudioPorts, uploadAudioRoutes } from "../features/recording/upload-audio.ts";
import type { SessionWishPorts } from "../features/sessions/session-actors.ts";
import {
  type SessionMemberPorts,
  sessionMemberRoutes,
} from "../features/sessions/session-members.ts";
import { type SessionPorts, sessionRoutes } from "../features/sessions/sessions.ts";
import { type SessionEditPorts, sessionEditRoutes } from "../features/sessions/sessions-edit.ts";
import { type SummaryPorts, summaryRoutes } from "../features/summaries/summaries.ts";
import {
  type SummarisationJobPorts,
  summarisationJobRoutes,
} from "../features/summaries/summarisation-jobs.ts";
import { type ChunkPorts, chunkRoutes } from "../features/transcript/chunks.ts";
import { redactionRoutes } from "../features/transcript/redactions.ts";
import { type SegmentPorts, segmentRoutes } from "../features/transcript/segments.ts";
import { type SegmentEditPorts, segmentEditRoutes } from "../features/transcript/segments-edit.ts";
import {
  type CompletenessPorts,
  completenessRoutes,
} from "../features/transcript/session-completeness.ts";
import {
  type SpeakerClaimPorts,
  speakerClaimRoutes,
} from "../features/transcript/speaker-claims.ts";
import { speakerEditRoutes } from "../features/transcript/speakers-edit.ts";
import { type TranscriptPorts, transcriptRoutes } from "../features/transcript/transcript.ts";
import {
  type TranscriptionJobPorts,
  transcriptionJobRoutes,
} from "../features/transcript/transcription-jobs.ts";
import { type RedoPorts, redoRoutes } from "../features/transcript/transcription-redo.ts";
import { type WebhookPorts, webhookRoutes } from "../features/webhooks/webhooks.ts";
import {
  type WebhookDeliveryPorts,
  webhookDeliveryRoutes,
} from "../features/webhooks/webhooks-deliveries.ts";
import {
  type ServiceKeyPorts,
  serviceKeyRoutes,
} from "../features/workspaces/service-keys-routes.ts";
import { type WorkshopPorts, workshopRoutes } from "../features/workspaces/workshops.ts";
import {
  type CharacterPorts,
  characterRoutes,
} from "../features/workspaces/workshops-characters.ts";
import { type WorkspacePorts, workspaceRoutes } from "../features/workspaces/workspaces.ts";
import {
  type WorkspaceEditPorts,
  workspaceEditRoutes,
} from "../features/workspaces/workspaces-edit.ts";
import {
  type WorkspaceMemberPorts,
  workspaceMemberRoutes,
} from "../features/workspaces/workspaces-members.ts";
import { type DocsPorts, docsRoutes } from "../rest/docs.ts";
import type { Route } from "../rest/route.ts";

/** What each group of routes needs of the rest of the service. */
export interface ApiPorts {
  auth: AuthPorts & GuestPorts & LiveTicketPorts & MagicLinkPorts & OAuthPorts & PasswordPorts;
  serviceKeys: ServiceKeyPorts;
  users: UserPorts & UserAccessPorts & UserErasePorts & UserEditPorts;
  admin: ElevationPorts & AuditPorts & OutboxPorts & OverviewPorts;
  workspaces: WorkspacePorts & WorkspaceMemberPorts & WorkspaceEditPorts;
  workshops: WorkshopPorts & CharacterPorts;
  webhooks: WebhookPorts & WebhookDeliveryPorts;
  devices: DevicePorts & HeartbeatPorts & PairingPorts;
  deviceSessions: DeviceSessionPorts;
  sessions: SessionPorts &
    ChunkPorts &
    SegmentPorts &
    SegmentEditPorts &
    TranscriptPorts &
    SpeakerClaimPorts &
    SessionWishPorts &
    SessionEditPorts &
    SessionDeletePorts;
  concerns: ConcernPorts & TriagePorts;
  upload: UploadAudioPorts;
  jobs: TranscriptionJobPorts & RedoPorts & JobPorts;
  recordings: SessionAudioPorts & CompletenessPorts;
  ownSessions: SessionStartPorts & SessionMemberPorts;
  graph: GraphPorts;
  summaries: SummaryPorts & SummarisationJobPorts;
  queries: QueryPorts & WorkspaceSearchPorts;
  health: HealthPorts;
  docs: DocsPorts;
}

const API_INFO = { title: "Voice session service", version: "1.0", basePath: "/api" };

/** Every route of the interface: the only place where one is registered. */
export function createRoutes(ports: ApiPorts): Route[] {
  const { auth, users, workspaces, devices, sessions } = ports;
  const routes: Route[] = [
    ...authRoutes(auth),
    ...guestRoutes(auth),
    ...liveTicketRoutes(auth),
    ...magicLinkRoutes(auth),
    ...oauthRoutes(auth),
    ...passwordRoutes(auth),
    ...serviceKeyRoutes(ports.serviceKeys),
    ...userRoutes(users),
    ...userAccessRoutes(users),
    ...userEditRoutes(users),
    ...userEraseRoutes(users),
    ...elevationRoutes(ports.admin),
    ...auditRoutes(ports.admin),
    ...overviewRoutes(ports.admin),
    ...outboxRoutes(ports.admin),
    ...workspaceRoutes(workspaces),
    ...workspaceMemberRoutes(workspaces),
    ...workspaceEditRoutes(workspaces),
    ...workshopRoutes(ports.workshops),
    ...characterRoutes(ports.workshops),
    ...webhookRoutes(ports.webhooks),
    ...webhookDeliveryRoutes(ports.webhooks),
    ...pairingRoutes(devices),
    ...deviceRoutes(devices),
    ...heartbeatRoutes(devices),
    ...deviceSessionRoutes(ports.deviceSessions),
    ...uploadAudioRoutes(ports.upload),
    ...sessionRoutes(sessions),
    ...chunkRoutes(sessions),
    ...segmentRoutes(sessions),
    ...transcriptRoutes(sessions),
    ...speakerClaimRoutes(sessions),
    ...transcriptionJobRoutes(ports.jobs),
    ...redoRoutes(ports.jobs),
    ...summaryRoutes(ports.summaries),
    ...summarisationJobRoutes(ports.summaries),
    ...segmentEditRoutes(sessions),
    ...speakerEditRoutes(sessions),
    ...sessionEditRoutes(sessions),
    ...sessionDeleteRoutes(sessions),
    ...redactionRoutes(sessions),
    ...concernRoutes(ports.concerns),
    ...triageRoutes(ports.concerns),
    ...sessionAudioRoutes(ports.recordings),
    ...completenessRoutes(ports.recordings),
    ...jobRoutes(ports.jobs),
    ...sessionStartRoutes(ports.ownSessions),
    ...sessionMemberRoutes(ports.ownSessions),
    ...graphRoutes(ports.graph),
    ...graphEntityRoutes(ports.graph),
    ...queryRoutes(ports.queries),
    ...workspaceSearchRoutes(ports.queries),
    ...healthRoutes(ports.health),
    ...docsRoutes(() => routes, API_INFO, ports.docs),
  ];
  return routes;
}
