import { asyncApiDocument } from "../http/async-api.ts";
import { docsRoutes } from "../rest/docs.ts";
import { GUIDE } from "../rest/guide.ts";
import type { Route } from "../rest/route.ts";
import { WEBHOOK_MESSAGES } from "../tenancy/webhooks/messages.ts";

const API_INFO = {
  title: "Voice session service",
  version: "1.0",
  description: GUIDE,
  basePath: "/api",
  webhooks: WEBHOOK_MESSAGES,
};

/**
 * Ids in the order of the OpenAPI document, by tags, as clients are generated from it: features go
 * by what stands on what, and several have routes of several tags. A route that is not listed comes
 * after the others of its tag.
 */
const ORDER = `
  login refreshToken logout me jwks enterAsGuest issueLiveTicket requestMagicLink
  validateMagicLink listOAuthProviders authorizeWithProvider completeWithProvider changePassword
  listServiceKeys createServiceKey getServiceKey rotateServiceKey revokeServiceKey
  createUser listUsers getUser disableUser enableUser editUser eraseAccount elevateContent
  endContentElevation listAudit verifyAudit getOverview listParkedCommands retryParkedCommands
  dropParkedCommands verifyStoredAudio moveStoredAudio
  createWorkspace listWorkspaces getWorkspace listWorkspaceMembers addWorkspaceMember
  changeWorkspaceRole removeWorkspaceMember editWorkspace removeWorkspace
  createWorkshop listWorkshops getWorkshop editWorkshop removeWorkshop createCharacter
  listCharacters getCharacter replaceCharacter removeCharacter
  listWebhooks createWebhook getWebhook changeWebhook deleteWebhook testWebhook
  rotateWebhookSecret listWebhookDeliveries retryWebhookDelivery
  publishPairingCode pairDevice pairingStatus claimDeviceKey listDevices createVirtualDevice
  getDevice renameDevice unpairDevice heartbeat startDeviceSession stopDeviceSession
  createSession listSessions getSession uploadAudio stopSession listSpeakers listChunks listSegments getSegment
  getTranscript claimSpeaker
  listTranscriptionJobs getTranscriptionJob redoTranscription
  requestSummary
  listSummaries
  listSummarisationJobs getSummarisationJob
  editSegment listSegmentChanges mergeSpeakers unmergeSpeakers reassignSegments unclaimSpeaker
  editSession deleteSession redactSession
  raiseConcern listSessionConcerns listConcerns getConcern triageConcern
  getSessionAudio getChunkAudio getCompleteness
  listJobs getJob cancelJob transcribeAgain
  compareTranscription acceptTranscription discardTranscription
  listSessionMembers addSessionMember removeSessionMember
  createGuestCode listGuestCodes deleteGuestCode
  getSessionGraph getWorkspaceGraph getGraphEntity getGraphPath
  querySession
  queryWorkspace searchWorkspace
  getHealth getLiveness getReadiness
`
  .trim()
  .split(/\s+/);

/**
 * Puts every route of the interface in order, and adds the documents that describe them, with the
 * address at which the service is reached where the operator has told it.
 */
export function createRoutes(publicUrl: string | undefined, given: readonly Route[]): Route[] {
  const byId = new Map(given.map((route) => [route.id, route]));
  const missing = ORDER.filter((id) => !byId.has(id));
  if (missing.length > 0) throw new Error(`Places without a route: ${missing}`);
  const routes = ORDER.flatMap((id) => byId.get(id) ?? []);
  for (const route of given.filter(({ id }) => !ORDER.includes(id))) {
    const last = routes.findLastIndex(({ tag }) => tag === route.tag);
    routes.splice(last < 0 ? routes.length : last + 1, 0, route);
  }
  routes.push(
    ...docsRoutes(() => routes, { ...API_INFO, publicUrl }, { asyncApi: asyncApiDocument }),
  );
  return routes;
}
