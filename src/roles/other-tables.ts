import type { OtherTables } from "../conversations/context.ts";
import type { AccountEnding } from "../conversations/erasure/account-erasure-store.ts";
import type { DeletionParts } from "../conversations/erasure/session-erasure-store.ts";
import { endGuests, removeGuest } from "../conversations/guests/store.ts";
import { cancelJobs } from "../conversations/jobs/store.ts";
import { eraseGraph } from "../conversations/questions/graph/build-store.ts";
import { eraseRecording } from "../conversations/recording/open-chunks-store.ts";
import {
  dropMembers,
  joinSession,
  leaveSessions,
} from "../conversations/sessions/members-store.ts";
import { eraseNotes } from "../conversations/summaries/store.ts";
import { dropTemplatesOf } from "../conversations/summaries/templates-store.ts";
import { eraseParts } from "../conversations/transcript/audio-parts-store.ts";
import { eraseMarks, eraseMarksOf } from "../conversations/transcript/marks/store.ts";
import { eraseEdits } from "../conversations/transcript/segments-store.ts";
import { eraseFreeNames } from "../conversations/transcript/speaker-names-store.ts";
import { dropUploads, endWithUploads } from "../conversations/uploads/store.ts";
import { forgetDeleted } from "../conversations/voices/forgotten-voices-store.ts";
import { eraseSuggestions } from "../conversations/voices/suggestions-store.ts";
import { contestClaim } from "../journal/claim-projection.ts";
import { appendDeletion, eraseProjections } from "../journal/projection.ts";
import { eraseOutcomes } from "../postgres/command-outcomes.ts";
import { dropCommands } from "../postgres/outbox.ts";
import { erasePerson } from "../tenancy/accounts/users-store.ts";
import { endElevationsOf, endElevationsTo } from "../tenancy/audit/elevation-store.ts";
import { forgetFailedSignInsOf } from "../tenancy/audit/failed-sign-ins-store.ts";
import { unpairDevices, unpairDevicesOf } from "../tenancy/devices/store.ts";
import { endWebhooksOf } from "../tenancy/webhooks/store.ts";
import { dropInvitationsTo, eraseInvitations } from "../tenancy/workspaces/invitations/store.ts";
import { joinWorkspace, leaveWorkspaces } from "../tenancy/workspaces/members-store.ts";

/**
 * What happens when an account is erased, in this order: what goes by its address comes before the
 * address. All other rights of a person are derived where they are read, and need nothing here.
 */
export const ACCOUNT_ENDINGS: readonly AccountEnding[] = [
  unpairDevicesOf,
  leaveWorkspaces,
  leaveSessions,
  eraseInvitations,
  eraseMarksOf,
  endElevationsOf,
  forgetFailedSignInsOf,
  erasePerson,
];

/** What happens in the transaction that deletes a session: each takes what its own tables have of it. */
export const DELETION_PARTS: DeletionParts = {
  counted: [eraseNotes, eraseGraph, eraseMarks],
  endings: [
    eraseProjections,
    eraseEdits,
    eraseOutcomes,
    eraseFreeNames,
    eraseSuggestions,
    // Before the members: one that is being accepted just now becomes a member first, and goes too.
    dropInvitationsTo,
    dropMembers,
    endGuests,
    endElevationsTo,
    dropCommands,
    eraseRecording,
    eraseParts,
    dropUploads,
    cancelJobs,
  ],
  append: appendDeletion,
  forget: forgetDeleted,
};

/** What features do in transactions of others. */
export const OTHER_TABLES: OtherTables = {
  joinWorkspace,
  joinSession,
  removeGuest,
  workspaceEndings: [endWebhooksOf, dropTemplatesOf],
  unpairDevices,
  endWithUploads,
  contestClaim,
};
