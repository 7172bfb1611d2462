import type { operations } from "../../client/gen/api-schema.ts";

type Body<O extends keyof operations> = operations[O] extends {
  responses: { 200: { content: { "application/json": infer B } } };
}
  ? B
  : never;
type Item<O extends keyof operations> = Body<O> extends { items: (infer I)[] } ? I : never;

/** Records of the interface, as its document gives them. */
export type Session = Body<"getSession">;
export type Workspace = Item<"listWorkspaces">;
export type Segment = Item<"listSegments">;
export type SegmentChange = Item<"listSegmentChanges">;
export type SummaryPage = Body<"listSummaries">;
export type Summary = Item<"listSummaries">;
export type NoteTemplate = Item<"listNoteTemplates">;
export type NoteSection = NoteTemplate["sections"][number];
export type ActionItem = Body<"getActionItem">;
export type Concern = Item<"listSessionConcerns">;
export type Mark = Item<"listMarks">;
export type Hit = Item<"searchWorkspace">;
export type Device = Item<"listDevices">;
export type Workshop = Item<"listWorkshops">;
export type Character = Item<"listCharacters">;
export type ServiceKey = Item<"listServiceKeys">;
export type Webhook = Item<"listWebhooks">;
export type Delivery = Item<"listWebhookDeliveries">;
export type Invitation = Item<"listInvitations">;
export type Answer = Body<"querySession">;
export type Completeness = Body<"getCompleteness">;
export type Overview = Body<"getOverview">;
export type TranscriptionJob = Body<"getTranscriptionJob">;
export type SummarisationJob = Body<"getSummarisationJob">;
export type TranscriptionJobItem = Item<"listTranscriptionJobs">;
export type SummarisationJobItem = Item<"listSummarisationJobs">;
export type User = Body<"getUser">;
export type AuditEntry = Item<"listAudit">;
export type AuditVerdict = Body<"verifyAudit">;
export type SessionMember = Item<"listSessionMembers">;
export type WorkspaceMember = Item<"listWorkspaceMembers">;
export type SentInvitation = Item<"listSessionInvitations">;
export type Graph = Body<"getSessionGraph">;
export type Entity = Graph["entities"][number];
export type Relation = Graph["relations"][number];
export type Mention = Item<"getGraphEntity">;
export type GuestCode = Item<"listGuestCodes">;
export type GraphPath = Body<"getGraphPath">;
export type VoiceList = Body<"listRememberedVoices">;
export type RememberedVoice = VoiceList["items"][number];
