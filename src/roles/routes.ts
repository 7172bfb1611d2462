import { asyncApiDocument } from "../http/async-api.ts";
import { docsRoutes } from "../rest/docs.ts";
import type { Route } from "../rest/route.ts";

const API_INFO = { title: "Voice session service", version: "1.0", basePath: "/api" };

/**
 * Ids in the order of the OpenAPI document, by tags. It is that of a reader, and clients are
 * generated from it; features go by what stands on what, and several have routes of several tags.
 */
const ORDER = `
  login refreshToken logout me jwks enterAsGuest issueLiveTicket requestMagicLink
  validateMagicLink listOAuthProviders authorizeWithProvider completeWithProvider changePassword
  listServiceKeys createServiceKey getServiceKey rotateServiceKey revokeServiceKey
  createUser listUsers getUser disableUser enableUser editUser eraseAccount elevateContent
  endContentElevation listAudit verifyAudit getOverview listParkedCommands retryParkedCommands
  dropParkedCommands
  createWorkspace listWorkspaces getWorkspace listWorkspaceMembers addWorkspaceMember
  changeWorkspaceRole removeWorkspaceMember editWorkspace removeWorkspace
  createWorkshop listWorkshops getWorkshop editWorkshop removeWorkshop createCharacter
  listCharacters getCharacter replaceCharacter removeCharacter
  listWebhooks createWebhook getWebhook changeWebhook deleteWebhook testWebhook
  rotateWebhookSecret listWebhookDeliveries retryWebhookDelivery
  publishPairingCode pairDevice pairingStatus claimDeviceKey listDevices createVirtualDevice
  getDevice renameDevice unpairDevice heartbeat startDeviceSession stopDeviceSession
  uploadAudio listSessions getSession listSpeakers listChunks listSegments getSegment
  getTranscript claimSpeaker
  listTranscriptionJobs getTranscriptionJob redoTranscription
  requestSummary
  listSummaries
  listSummarisationJobs getSummarisationJob
  editSegment mergeSpeakers unclaimSpeaker editSession deleteSession redactSession
  raiseConcern listSessionConcerns listConcerns getConcern triageConcern
  getSessionAudio getChunkAudio getCompleteness
  listJobs getJob cancelJob transcribeAgain
  createSession stopSession listSessionMembers addSessionMember removeSessionMember
  getSessionGraph getWorkspaceGraph getGraphEntity getGraphPath
  querySession
  queryWorkspace searchWorkspace
  getHealth getLiveness getReadiness
`
  .trim()
  .split(/\s+/);

/** Every route of the interface, and with them the documents that tell of them. */
export function createRoutes(given: readonly Route[]): Route[] {
  const byId = new Map(given.map((route) => [route.id, route]));
  const unplaced = given.filter(({ id }) => !ORDER.includes(id)).map(({ id }) => id);
  const missing = ORDER.filter((id) => !byId.has(id));
  if (unplaced.length + missing.length > 0) {
    throw new Error(`Routes without a place: ${unplaced}; places without a route: ${missing}`);
  }
  const routes = ORDER.flatMap((id) => byId.get(id) ?? []);
  routes.push(...docsRoutes(() => routes, API_INFO, { asyncApi: asyncApiDocument }));
  return routes;
}
