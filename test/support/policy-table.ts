import {
  ADMINS,
  CALLERS,
  DEVICES,
  ELEVATED,
  GUESTS,
  MEMBERS,
  READERS,
  SPEAKERS,
  STEWARDS,
  USERS,
  VIEWERS,
  WORKSPACE_OWNERS,
} from "./policy-callers.ts";
import type { Ask, Rule } from "./policy-rules.ts";

type Rest = Partial<Omit<Rule, "open">>;

const session = (open: Rule["open"], rest: Rest = {}): Rule => {
  return { on: "session", takes: "bearer", roles: "all", open, ...rest };
};
/** Words of a session. */
const words = (open: Rule["open"], rest: Rest = {}): Rule => {
  return session(open, { content: true, ...rest });
};
const thing = (open: Rule["open"], rest: Rest = {}): Rule => {
  return { on: "thing", takes: "bearer", roles: "users", open, ...rest };
};
const free = (open: Rule["open"], rest: Rest = {}): Rule => {
  return { on: "nothing", takes: "bearer", roles: "users", open, ...rest };
};
const everybody = (rest: Rest = {}): Rule => free(CALLERS, { takes: "nothing", ...rest });
const admins = (rest: Rest = {}): Rule => free(ADMINS, { roles: "admins", ...rest });
/** An identity provider that is not there, which is all that is asked of it. */
const provider = everybody({ on: "thing", except: { live: "404", unknown: "404" } });

const withKeys = { takes: "bearer or key" } as const;
const reading = { ...withKeys, scope: "sessions:read" } as const;
const writing = { ...withKeys, scope: "sessions:write" } as const;
const sharing = { ...withKeys, scope: "sessions:share" } as const;
const asking = { ...withKeys, scope: "query" } as const;
const exporting = { ...withKeys, scope: "export" } as const;
const givesInWorkspace = { gives: "in the workspace" } as const;
const users = { roles: "users" } as const;
const ask = (how: Ask): { ask: Ask } => ({ ask: how });
const noUpload = ask({ beyond: "There is no upload" });
const noMark = ask({ beyond: "There is no mark" });

const OWNER = ["owner"] as const;
const WORKSPACE_OWNER = ["workspace owner"] as const;
const READERS_AND_GUEST = [...READERS, "guest", "guest by code"] as const;
const VIEWERS_AND_GUEST = [...VIEWERS, "guest", "guest by code"] as const;
const PEOPLE = [...USERS, ...GUESTS];
const MEMBERS_AND_ADMINS = [...MEMBERS, ...ADMINS] as const;
/** Administrators ask with an elevation; one with native access to a session there asks about that. */
const ASKERS = [...MEMBERS, ...ELEVATED, "admin native"] as const;
const OWNER_AND_ADMINS = ["owner", ...ADMINS] as const;

const webhook = thing(WORKSPACE_OWNERS, { ...withKeys, scope: "webhooks" });
const self = free(USERS, ask({ as: "oneself", self: true }));
const transcribing = free([], { takes: "key", scope: "transcribe" });
const ownKey = thing(["device"], { takes: "device key" });

/**
 * Who may call every route, by its id: a line for each way to call it that has
 * rights of its own.
 */
export const POLICY_TABLE: Readonly<Record<string, readonly Rule[]>> = {
  // Auth
  login: [everybody()],
  // None of the callers shows a refresh token.
  refreshToken: [free([], { roles: "all", except: { live: "401" } })],
  logout: [free(PEOPLE, { roles: "all", ...ask({ spends: "login" }) })],
  me: [free(PEOPLE, { roles: "all" })],
  jwks: [everybody()],
  enterAsGuest: [
    everybody({
      on: "session",
      content: true,
      except: { deleted: "404", unknown: "404", invited: "404", shut: "403" },
      ...ask({ body: { session_id: "{session_id}", display_name: "Gus" } }),
    }),
    everybody({
      on: "session",
      content: true,
      except: { deleted: "404", unknown: "404", shut: "403" },
      ...ask({ as: "by code", body: { session_id: "{guest_code}", display_name: "Gus" } }),
    }),
  ],
  // None of the callers shows a guest's cookie.
  returnAsGuest: [
    free([], {
      roles: "all",
      except: { live: "401" },
      ...ask({ query: "session_id={session_id}" }),
    }),
  ],
  openInvitation: [everybody()],
  issueLiveTicket: [free([...PEOPLE, ...DEVICES], { takes: "any", roles: "all", scope: "every" })],
  requestMagicLink: [everybody()],
  validateMagicLink: [everybody()],
  listOAuthProviders: [everybody()],
  authorizeWithProvider: [provider],
  completeWithProvider: [provider],
  changePassword: [free(USERS)],

  // ApiKey
  listServiceKeys: [
    free(USERS),
    free(WORKSPACE_OWNERS, ask({ as: "of one workspace", query: "workspace_id={workspace_id}" })),
  ],
  createServiceKey: [
    // Its secret opens words: an administrator has none without an elevation.
    free(
      WORKSPACE_OWNER,
      ask({ body: { workspace_id: "{workspace_id}", name: "Key", scopes: ["query"] } }),
    ),
  ],
  getServiceKey: [thing(WORKSPACE_OWNERS)],
  rotateServiceKey: [thing(WORKSPACE_OWNER)],
  adoptServiceKey: [thing(["workspace owner", ...ELEVATED], givesInWorkspace)],
  revokeServiceKey: [thing(WORKSPACE_OWNERS)],

  // Compat
  sendMcpMessage: [free(USERS, { ...withKeys, scope: "several" })],
  createOpenAiTranscription: [transcribing],
  listenDeepgram: [transcribing],
  listOpenAiModels: [transcribing],
  getOpenAiModel: [{ ...transcribing, ...ask({ beyond: "there is no" }) }],

  // Users and administration
  createUser: [admins()],
  listUsers: [
    free(ADMINS),
    free(MEMBERS_AND_ADMINS, ask({ as: "of one workspace", query: "workspace_id={workspace_id}" })),
  ],
  // Whoever is no administrator asks about others in vain, whether they are there or not.
  getUser: [thing(ADMINS, { roles: "admins" }), self],
  disableUser: [thing(ADMINS, { roles: "admins" })],
  enableUser: [thing(ADMINS, { roles: "admins" })],
  editUser: [thing(ADMINS, { roles: "admins" }), self],
  eraseAccount: [free(USERS)],
  rememberVoice: [free(USERS)],
  listRememberedVoices: [free(USERS)],
  forgetVoice: [free(USERS)],
  elevateContent: [admins()],
  endContentElevation: [thing(ADMINS, { roles: "admins", ...ask({ spends: "itself" }) })],
  getOverview: [admins()],
  listParkedCommands: [admins()],
  retryParkedCommands: [admins()],
  dropParkedCommands: [admins()],
  verifyStoredAudio: [admins()],
  moveStoredAudio: [admins()],
  listAudit: [admins()],
  verifyAudit: [admins()],

  // Workspace
  createWorkspace: [free(USERS)],
  listWorkspaces: [
    free(USERS, reading),
    free(ADMINS, { ...withKeys, roles: "admins", ...ask({ as: "all", query: "scope=all" }) }),
  ],
  getWorkspace: [thing(MEMBERS_AND_ADMINS, reading)],
  listWorkspaceMembers: [thing(MEMBERS_AND_ADMINS)],
  // Administrators let others in under an elevation, and never themselves: membership opens words.
  addWorkspaceMember: [
    thing(["workspace owner", ...ELEVATED], givesInWorkspace),
    free(WORKSPACE_OWNER, {
      ...givesInWorkspace,
      ...ask({ as: "oneself", self: true, body: { user_id: "{user_id}" } }),
    }),
  ],
  changeWorkspaceRole: [
    thing(["workspace owner", ...ELEVATED], givesInWorkspace),
    free(WORKSPACE_OWNER, {
      ...givesInWorkspace,
      ...ask({ as: "one's own", self: true, body: { role: "owner" } }),
    }),
  ],
  removeWorkspaceMember: [
    thing(WORKSPACE_OWNERS),
    free(MEMBERS_AND_ADMINS, ask({ as: "oneself", self: true })),
  ],
  listWorkspaceInvitations: [thing(WORKSPACE_OWNERS)],
  withdrawWorkspaceInvitation: [
    thing(WORKSPACE_OWNERS, ask({ beyond: "There is no pending invitation with this id here." })),
  ],
  listInvitations: [free(USERS)],
  // To somebody who is not among the callers: to them it is not there.
  acceptInvitation: [thing([], { hidden: true })],
  declineInvitation: [thing([], { hidden: true })],
  editWorkspace: [
    thing(WORKSPACE_OWNERS),
    thing(["workspace owner", ...ELEVATED], {
      ...givesInWorkspace,
      ...ask({ as: "its guests", body: { default_guest_access: null } }),
    }),
  ],
  removeWorkspace: [thing(WORKSPACE_OWNERS)],
  listNoteTemplates: [thing(MEMBERS_AND_ADMINS)],
  getNoteTemplate: [thing(MEMBERS_AND_ADMINS)],
  replaceNoteTemplate: [thing(WORKSPACE_OWNERS)],
  resetNoteTemplate: [thing(WORKSPACE_OWNERS)],
  queryWorkspace: [thing(ASKERS, { ...asking, content: true })],
  searchWorkspace: [thing(ASKERS, { ...asking, content: true, ...ask({ query: "q=word" }) })],

  // Workshop
  createWorkshop: [
    free(MEMBERS_AND_ADMINS, ask({ body: { workspace_id: "{workspace_id}", name: "Play" } })),
  ],
  listWorkshops: [free(USERS)],
  getWorkshop: [thing(MEMBERS_AND_ADMINS)],
  editWorkshop: [thing(MEMBERS_AND_ADMINS)],
  removeWorkshop: [thing(MEMBERS_AND_ADMINS)],
  createCharacter: [thing(MEMBERS_AND_ADMINS)],
  listCharacters: [thing(MEMBERS_AND_ADMINS)],
  getCharacter: [thing(MEMBERS_AND_ADMINS)],
  replaceCharacter: [thing(MEMBERS_AND_ADMINS)],
  removeCharacter: [thing(MEMBERS_AND_ADMINS)],

  // Webhooks
  listWebhooks: [webhook],
  createWebhook: [webhook],
  getWebhook: [webhook],
  changeWebhook: [webhook],
  deleteWebhook: [webhook],
  adoptWebhook: [thing(["workspace owner", ...ELEVATED], givesInWorkspace)],
  testWebhook: [webhook],
  // Whoever has the secret can sign messages of the workspace's.
  rotateWebhookSecret: [
    { ...webhook, ...givesInWorkspace, open: ["workspace owner", ...ELEVATED] },
  ],
  listWebhookDeliveries: [webhook],
  replayWebhook: [webhook],
  retryWebhookDelivery: [{ ...webhook, ...ask({ beyond: "There is no delivery with this id." }) }],

  // Device
  publishPairingCode: [everybody()],
  pairDevice: [
    free(
      MEMBERS_AND_ADMINS,
      ask({
        body: { code: "BCDFGHJK", workspace_id: "{workspace_id}" },
        beyond: "This pairing code is unknown or has expired.",
      }),
    ),
  ],
  pairingStatus: [everybody()],
  claimDeviceKey: [free([...USERS, ...DEVICES], { takes: "bearer or device key" })],
  listDevices: [free(USERS)],
  createVirtualDevice: [
    free(MEMBERS_AND_ADMINS, ask({ body: { workspace_id: "{workspace_id}" } })),
  ],
  getDevice: [thing(MEMBERS_AND_ADMINS)],
  renameDevice: [thing(["owner", ...WORKSPACE_OWNERS])],
  unpairDevice: [thing(["owner", ...WORKSPACE_OWNERS])],
  heartbeat: [ownKey],
  startDeviceSession: [ownKey],
  stopDeviceSession: [{ ...ownKey, backlog: true }],
  uploadAudio: [session(["device"], { takes: "device key", backlog: true })],

  // Session
  listSessions: [free(USERS, reading)],
  searchSessions: [free(USERS, ask({ query: "q=word" }))],
  createSession: [
    free(MEMBERS_AND_ADMINS, {
      ...writing,
      ...ask({
        body: { workspace_id: "{workspace_id}", workshop_id: "none" },
        beyond: "is not the id of a workshop.",
      }),
    }),
  ],
  createUpload: [session(OWNER, { ...writing, ...users })],
  listUploads: [session(OWNER, { ...writing, ...users })],
  issueCallTicket: [session(OWNER, { ...writing, ...users })],
  getUpload: [session(OWNER, { ...writing, ...users, ...noUpload })],
  bringBytes: [session(OWNER, { ...writing, ...users, ...noUpload })],
  deleteUpload: [session(OWNER, { ...writing, ...users, ...noUpload })],
  getSession: [session(VIEWERS_AND_GUEST, { ...reading, deleted: ADMINS })],
  listSpeakers: [session(VIEWERS_AND_GUEST, { ...reading, deleted: ADMINS })],
  getCompleteness: [session(VIEWERS_AND_GUEST, { ...reading, deleted: ADMINS })],
  listSessionMembers: [session(VIEWERS, { ...reading, ...users, deleted: ADMINS })],
  listChunks: [words(READERS_AND_GUEST, reading)],
  listSegments: [words(READERS_AND_GUEST, reading)],
  getSegment: [words(READERS_AND_GUEST, reading)],
  getTranscript: [
    words(READERS_AND_GUEST, reading),
    words(READERS_AND_GUEST, { ...exporting, ...ask({ as: "as a file", query: "format=srt" }) }),
  ],
  // Moderators hear the sessions of their workspaces; participants those that they own.
  getSessionAudio: [
    words(
      STEWARDS.filter((each) => each !== "admin"),
      { ...exporting, ...users },
    ),
  ],
  getChunkAudio: [
    words(
      STEWARDS.filter((each) => each !== "admin"),
      { ...exporting, ...users },
    ),
  ],
  querySession: [words(READERS_AND_GUEST, asking)],
  listSummaries: [words(READERS, { ...reading, ...users })],
  getActionItem: [words(READERS, { ...reading, ...users })],
  editActionItem: [
    session(OWNER, { ...withKeys, scope: "several", ...ask({ body: { done: true } }) }),
  ],
  requestSummary: [words(READERS, { ...asking, ...users })],
  getSessionGraph: [words(READERS, { ...reading, ...users, ...ask({ query: "limit=0" }) })],
  claimSpeaker: [
    session(SPEAKERS),
    session(OWNER, {
      ...ask({
        as: "for somebody else",
        body: { speaker_label: "S1", source: "moderator_assignment" },
      }),
    }),
  ],
  unclaimSpeaker: [session(SPEAKERS)],
  // Its answer shows the words, so that a key needs the scope for them too.
  editSegment: [session(OWNER, { ...withKeys, scope: "several" })],
  listSegmentChanges: [session(OWNER, { ...withKeys, scope: "several" })],
  mergeSpeakers: [session(OWNER, writing)],
  unmergeSpeakers: [session(OWNER, writing)],
  reassignSegments: [session(OWNER, writing)],
  nameSpeaker: [session(["owner", "moderator"], writing)],
  editSession: [
    session(OWNER, { ...writing, ...ask({ as: "its title", body: { title: "T" } }) }),
    session(OWNER, {
      ...writing,
      ...ask({ as: "the template of its notes", body: { notes_template: "general" } }),
    }),
    session(OWNER, {
      ...sharing,
      ...ask({ as: "who sees it", body: { visibility: "{visibility}" } }),
    }),
    session(["owner", "moderator"], {
      ...sharing,
      ...ask({ as: "its guests", body: { guest_access: "{guest_access}" } }),
    }),
  ],
  deleteSession: [
    session(OWNER_AND_ADMINS, { ...writing, deleted: ADMINS, ...ask({ spends: "session" }) }),
  ],
  stopSession: [session(OWNER, writing)],
  redactSession: [words(["owner", "moderator", ...ELEVATED, "admin native"], writing)],
  addSessionMember: [
    session(["owner", ...ELEVATED], { ...sharing, ...users, gives: "in the session" }),
  ],
  removeSessionMember: [
    session(OWNER_AND_ADMINS, { ...sharing, ...users }),
    session(STEWARDS, { ...sharing, ...users, ...ask({ as: "a guest", guest: true }) }),
  ],
  createGuestCode: [session(["owner", "moderator"], { ...sharing, ...users })],
  listGuestCodes: [session(["owner", "moderator"], { ...sharing, ...users })],
  deleteGuestCode: [session(["owner", "moderator"], { ...sharing, ...users })],
  listSessionInvitations: [session(OWNER_AND_ADMINS, { ...sharing, ...users })],
  withdrawSessionInvitation: [
    session(OWNER_AND_ADMINS, {
      ...sharing,
      ...users,
      ...ask({ beyond: "There is no pending invitation with this id here." }),
    }),
  ],

  // Concerns
  listMarks: [words(READERS_AND_GUEST, reading)],
  addMark: [words(READERS, users)],
  getMark: [words(READERS_AND_GUEST, { ...reading, ...noMark })],
  changeMark: [words(READERS, { ...users, ...noMark })],
  removeMark: [words(READERS, { ...users, ...noMark })],
  raiseConcern: [session(VIEWERS_AND_GUEST)],
  listSessionConcerns: [words(READERS_AND_GUEST)],
  listConcerns: [free(PEOPLE, { roles: "all" })],
  // A guest reads the concerns that it raised.
  getConcern: [words([...READERS, "guest"])],
  triageConcern: [session(STEWARDS, users)],

  // Job
  listTranscriptionJobs: [admins()],
  getTranscriptionJob: [session(ADMINS, { roles: "admins", deleted: ADMINS })],
  redoTranscription: [session(ADMINS, { roles: "admins", deleted: ADMINS })],
  listSummarisationJobs: [admins()],
  getSummarisationJob: [session(ADMINS, { roles: "admins", deleted: ADMINS })],
  listJobs: [free(USERS)],
  listEngines: [free(USERS, { ...withKeys, scope: "every" })],
  getJob: [session(VIEWERS, { ...reading, ...users, deleted: ADMINS })],
  cancelJob: [session(OWNER_AND_ADMINS, { ...writing, ...users })],
  transcribeAgain: [session(OWNER_AND_ADMINS, { ...writing, ...users })],
  // None waits.
  compareTranscription: [
    session(["owner", ...ELEVATED, "admin native"], {
      ...users,
      content: true,
      ...ask({ beyond: "No repeated transcription of this session waits for a choice." }),
    }),
  ],
  acceptTranscription: [session(OWNER_AND_ADMINS, users)],
  discardTranscription: [session(OWNER_AND_ADMINS, users)],

  // Graph
  getWorkspaceGraph: [thing(ASKERS, { ...asking, content: true, ...ask({ query: "limit=0" }) })],
  getGraphEntity: [
    thing(ASKERS, {
      ...asking,
      content: true,
      ...ask({ beyond: "There is no entity with this id" }),
    }),
  ],
  getGraphPath: [thing(ASKERS, { ...asking, content: true, ...ask({ query: "from=x" }) })],

  // Health and documents
  getHealth: [everybody()],
  getLiveness: [everybody()],
  getReadiness: [everybody()],
  getAsyncApi: [everybody()],
  getOpenApi: [everybody()],
  getDocs: [everybody()],
  getDocsScript: [everybody()],
};
