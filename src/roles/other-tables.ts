import { erasePerson } from "../features/accounts/users-store.ts";
import { endElevationsOf, endElevationsTo } from "../features/audit/elevation-store.ts";
import { forgetFailedSignInsOf } from "../features/audit/failed-sign-ins-store.ts";
import type { OtherTables } from "../features/context.ts";
import { unpairDevices, unpairDevicesOf } from "../features/devices/store.ts";
import type { AccountEnding } from "../features/erasure/account-erasure-store.ts";
import type { DeletionParts } from "../features/erasure/session-erasure-store.ts";
import { eraseGraph } from "../features/graph/build-store.ts";
import { endGuests, removeGuest } from "../features/guests/store.ts";
import { dropInvitationsTo, eraseInvitations } from "../features/invitations/store.ts";
import { cancelJobs } from "../features/jobs/store.ts";
import { eraseMarks, eraseMarksOf } from "../features/marks/store.ts";
import { eraseRecording } from "../features/recording/open-chunks-store.ts";
import { dropMembers, joinSession, leaveSessions } from "../features/sessions/members-store.ts";
import { eraseNotes } from "../features/summaries/store.ts";
import { dropTemplatesOf } from "../features/summaries/templates-store.ts";
import { eraseParts } from "../features/transcript/audio-parts-store.ts";
import { eraseEdits } from "../features/transcript/segments-store.ts";
import { eraseFreeNames } from "../features/transcript/speaker-names-store.ts";
import { dropUploads, endWithUploads } from "../features/uploads/store.ts";
import { forgetDeleted } from "../features/voices/forgotten-voices-store.ts";
import { eraseSuggestions } from "../features/voices/suggestions-store.ts";
import { endWebhooksOf } from "../features/webhooks/store.ts";
import { joinWorkspace, leaveWorkspaces } from "../features/workspaces/members-store.ts";
import { contestClaim } from "../journal/claim-projection.ts";
import { appendDeletion, eraseProjections } from "../journal/projection.ts";
import { eraseOutcomes } from "../postgres/command-outcomes.ts";
import { dropCommands } from "../postgres/outbox.ts";

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
