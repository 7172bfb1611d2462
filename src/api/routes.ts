import { type AuditPorts, auditRoutes } from "./admin-audit.ts";
import { type ElevationPorts, elevationRoutes } from "./admin-elevation.ts";
import { type OutboxPorts, outboxRoutes } from "./admin-outbox.ts";
import { type OverviewPorts, overviewRoutes } from "./admin-overview.ts";
import { type AuthPorts, authRoutes } from "./auth.ts";
import { type GuestPorts, guestRoutes } from "./auth-guest.ts";
import { type LiveTicketPorts, liveTicketRoutes } from "./auth-live-ticket.ts";
import { type MagicLinkPorts, magicLinkRoutes } from "./auth-magic-link.ts";
import { type OAuthPorts, oauthRoutes } from "./auth-oauth.ts";
import { type PasswordPorts, passwordRoutes } from "./auth-password.ts";
import { type ChunkPorts, chunkRoutes } from "./chunks.ts";
import { type ConcernPorts, concernRoutes } from "./concerns.ts";
import { type TriagePorts, triageRoutes } from "./concerns-triage.ts";
import { type DeviceSessionPorts, deviceSessionRoutes } from "./device-sessions.ts";
import { type DevicePorts, deviceRoutes } from "./devices.ts";
import { type HeartbeatPorts, heartbeatRoutes } from "./devices-heartbeat.ts";
import { type DocsPorts, docsRoutes } from "./docs.ts";
import { type GraphPorts, graphRoutes } from "./graph.ts";
import { graphEntityRoutes } from "./graph-entities.ts";
import { type HealthPorts, healthRoutes } from "./health.ts";
import { type JobPorts, jobRoutes } from "./jobs.ts";
import { type PairingPorts, pairingRoutes } from "./pairing.ts";
import { type QueryPorts, queryRoutes } from "./queries.ts";
import { redactionRoutes } from "./redactions.ts";
import type { Route } from "./route.ts";
import { type SegmentPorts, segmentRoutes } from "./segments.ts";
import { type SegmentEditPorts, segmentEditRoutes } from "./segments-edit.ts";
import { type ServiceKeyPorts, serviceKeyRoutes } from "./service-keys.ts";
import type { SessionWishPorts } from "./session-actors.ts";
import { type SessionAudioPorts, sessionAudioRoutes } from "./session-audio.ts";
import { type CompletenessPorts, completenessRoutes } from "./session-completeness.ts";
import { type SessionMemberPorts, sessionMemberRoutes } from "./session-members.ts";
import { type SessionPorts, sessionRoutes } from "./sessions.ts";
import { type SessionDeletePorts, sessionDeleteRoutes } from "./sessions-delete.ts";
import { type SessionEditPorts, sessionEditRoutes } from "./sessions-edit.ts";
import { type SessionStartPorts, sessionStartRoutes } from "./sessions-start.ts";
import { type SpeakerClaimPorts, speakerClaimRoutes } from "./speaker-claims.ts";
import { speakerEditRoutes } from "./speakers-edit.ts";
import { type SummaryPorts, summaryRoutes } from "./summaries.ts";
import { type SummarisationJobPorts, summarisationJobRoutes } from "./summarisation-jobs.ts";
import { type TranscriptPorts, transcriptRoutes } from "./transcript.ts";
import { type TranscriptionJobPorts, transcriptionJobRoutes } from "./transcription-jobs.ts";
import { type RedoPorts, redoRoutes } from "./transcription-redo.ts";
import { type UploadAudioPorts, uploadAudioRoutes } from "./upload-audio.ts";
import { type UserPorts, userRoutes } from "./users.ts";
import { type UserAccessPorts, userAccessRoutes } from "./users-access.ts";
import { type UserEditPorts, userEditRoutes } from "./users-edit.ts";
import { type UserErasePorts, userEraseRoutes } from "./users-erase.ts";
import { type WebhookPorts, webhookRoutes } from "./webhooks.ts";
import { type WebhookDeliveryPorts, webhookDeliveryRoutes } from "./webhooks-deliveries.ts";
import { type WorkshopPorts, workshopRoutes } from "./workshops.ts";
import { type CharacterPorts, characterRoutes } from "./workshops-characters.ts";
import { type WorkspaceSearchPorts, workspaceSearchRoutes } from "./workspace-search.ts";
import { type WorkspacePorts, workspaceRoutes } from "./workspaces.ts";
import { type WorkspaceEditPorts, workspaceEditRoutes } from "./workspaces-edit.ts";
import { type WorkspaceMemberPorts, workspaceMemberRoutes } from "./workspaces-members.ts";

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
