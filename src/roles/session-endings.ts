import { endElevationsTo } from "../features/audit/elevation-store.ts";
import type { DeletionParts } from "../features/erasure/session-erasure-store.ts";
import { eraseGraph } from "../features/graph/build-store.ts";
import { endGuests } from "../features/guests/store.ts";
import { dropInvitationsTo } from "../features/invitations/store.ts";
import { cancelJobs } from "../features/jobs/store.ts";
import { eraseMarks } from "../features/marks/store.ts";
import { eraseRecording } from "../features/recording/open-chunks-store.ts";
import { dropMembers } from "../features/sessions/members-store.ts";
import { eraseNotes } from "../features/summaries/store.ts";
import { eraseParts } from "../features/transcript/audio-parts-store.ts";
import { eraseEdits } from "../features/transcript/segments-store.ts";
import { eraseFreeNames } from "../features/transcript/speaker-names-store.ts";
import { dropUploads } from "../features/uploads/store.ts";
import { forgetDeleted } from "../features/voices/forgotten-voices-store.ts";
import { eraseSuggestions } from "../features/voices/suggestions-store.ts";
import { appendDeletion, eraseProjections } from "../journal/deleted-session.ts";
import { eraseOutcomes } from "../postgres/command-outcomes.ts";
import { dropCommands } from "../postgres/outbox.ts";

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
