import { type GuestPorts, guestRoutes } from "../features/accounts/guests.ts";
import { type LiveTicketPorts, liveTicketRoutes } from "../features/accounts/live-tickets.ts";
import { type MagicLinkPorts, magicLinkRoutes } from "../features/accounts/magic-links.ts";
import { type OAuthPorts, oauthRoutes } from "../features/accounts/oauth-routes.ts";
import { type PasswordPorts, passwordRoutes } from "../features/accounts/passwords.ts";
import { type AuthPorts, authRoutes } from "../features/accounts/sign-in-routes.ts";
import {
  type UserAccessPorts,
  type UserEditPorts,
  type UserPorts,
  userAccessRoutes,
  userEditRoutes,
  userRoutes,
} from "../features/accounts/users-routes.ts";
import { type HealthPorts, healthRoutes } from "../features/admin/health.ts";
import { type OutboxPorts, outboxRoutes } from "../features/admin/outbox.ts";
import { type OverviewPorts, overviewRoutes } from "../features/admin/overview.ts";
import { type ElevationPorts, elevationRoutes } from "../features/audit/elevation.ts";
import { type AuditPorts, auditRoutes } from "../features/audit/routes.ts";
import { type ConcernPorts, concernRoutes } from "../features/concerns/routes.ts";
import { type TriagePorts, triageRoutes } from "../features/concerns/triage-routes.ts";
import { type HeartbeatPorts, heartbeatRoutes } from "../features/devices/heartbeat-routes.ts";
import { type PairingPorts, pairingRoutes } from "../features/devices/pairing-routes.ts";
import { type DevicePorts, deviceRoutes } from "../features/devices/routes.ts";
import { type UserErasePorts, userEraseRoutes } from "../features/erasure/account-erasure.ts";
import {
  type SessionDeletePorts,
  sessionDeleteRoutes,
} from "../features/erasure/session-erasure.ts";
import { graphEntityRoutes } from "../features/graph/entity-routes.ts";
import { type GraphPorts, graphRoutes } from "../features/graph/routes.ts";
import { type JobPorts, jobRoutes } from "../features/jobs/routes.ts";
import { type QueryPorts, queryRoutes } from "../features/questions/routes.ts";
import { type WorkspaceSearchPorts, workspaceSearchRoutes } from "../features/questions/search.ts";
import {
  type DeviceSessionPorts,
  deviceSessionRoutes,
} from "../features/recording/device-sessions.ts";
import { type SessionAudioPorts, sessionAudioRoutes } from "../features/recording/playback.ts";
import { type SessionStartPorts, sessionStartRoutes } from "../features/recording/start.ts";
import { type UploadAudioPorts, uploadAudioRoutes } from "../features/recording/upload.ts";
import type { SessionWishPorts } from "../features/sessions/actors.ts";
import { type SessionEditPorts, sessionEditRoutes } from "../features/sessions/edit.ts";
import { type SessionMemberPorts, sessionMemberRoutes } from "../features/sessions/members.ts";
import { type SessionPorts, sessionRoutes } from "../features/sessions/routes.ts";
import {
  type SummarisationJobPorts,
  type SummaryPorts,
  summarisationJobRoutes,
  summaryRoutes,
} from "../features/summaries/routes.ts";
import { type ChunkPorts, chunkRoutes } from "../features/transcript/chunks.ts";
import { type SpeakerClaimPorts, speakerClaimRoutes } from "../features/transcript/claims.ts";
import { type CompletenessPorts, completenessRoutes } from "../features/transcript/completeness.ts";
import {
  type SegmentEditPorts,
  segmentEditRoutes,
  speakerEditRoutes,
} from "../features/transcript/edit-routes.ts";
import { type TranscriptPorts, transcriptRoutes } from "../features/transcript/export.ts";
import {
  type TranscriptionJobPorts,
  transcriptionJobRoutes,
} from "../features/transcript/jobs-routes.ts";
import { redactionRoutes } from "../features/transcript/redaction.ts";
import { type RedoPorts, redoRoutes } from "../features/transcript/redo.ts";
import { type SegmentPorts, segmentRoutes } from "../features/transcript/segments.ts";
import {
  type WebhookDeliveryPorts,
  webhookDeliveryRoutes,
} from "../features/webhooks/delivery-routes.ts";
import { type WebhookPorts, webhookRoutes } from "../features/webhooks/routes.ts";
import { type CharacterPorts, characterRoutes } from "../features/workspaces/characters-routes.ts";
import {
  type WorkspaceMemberPorts,
  workspaceMemberRoutes,
} from "../features/workspaces/members-routes.ts";
import {
  type WorkspaceEditPorts,
  type WorkspacePorts,
  workspaceEditRoutes,
  workspaceRoutes,
} from "../features/workspaces/routes.ts";
import {
  type ServiceKeyPorts,
  serviceKeyRoutes,
} from "../features/workspaces/service-key-routes.ts";
import { type WorkshopPorts, workshopRoutes } from "../features/workspaces/workshops-routes.ts";
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
