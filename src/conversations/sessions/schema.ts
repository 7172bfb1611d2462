import { type Static, Type } from "@sinclair/typebox";
import { GUEST_ACCESS } from "../../access/policy.ts";
import { toTimestamp } from "../../base/clock.ts";
import { pageSchema } from "../../rest/page.ts";
import { optionalTime, timestamp } from "../../rest/schemas.ts";
import {
  FAILURE_REASONS,
  type FailureReason,
  type NoteTemplateId,
  type StopReason,
} from "../../session/status.ts";
import { notesTemplate } from "../../tenancy/workspaces/routes.ts";
import { FREE_NAME } from "../../wire/field-descriptions.ts";
import {
  sessionCompat,
  sessionEngine,
  sessionWarnings,
  warningsOf,
} from "../../wire/session-record.ts";
import { metadataSchema, tagsSchema } from "./custom-fields.ts";
import type { SpeakerMerge, SpeakerRecord } from "./speakers-store.ts";
import type { SessionRecord } from "./store.ts";
import { suggestionsSchema } from "./suggestions.ts";

export const sessionParams = Type.Object({
  session_id: Type.String({ description: "UUID of the session" }),
});

/** The name of a speech engine in a request. */
export const engineName = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    "A name of GET /engines. The workspace's choice by default, else the installation's, else the first one that knows the language",
  examples: ["moonshine-tiny-en"],
});

export const sessionStatus = Type.Union(
  (["recording", "processing", "completed", "failed", "deleted"] as const).map((status) =>
    Type.Literal(status),
  ),
  { $id: "SessionStatus" },
);

export const chunkStatus = Type.Union(
  (["pending", "processing", "completed", "failed"] as const).map((status) => Type.Literal(status)),
  { $id: "ChunkStatus" },
);

export const guestAccess = Type.Union(
  GUEST_ACCESS.map((each) => Type.Literal(each)),
  {
    description:
      "How guests get in: `open` by the session's id or a guest code, `invitation` by a guest code only, `closed` not at all",
  },
);

export const sessionSchema = Type.Object(
  {
    id: Type.String(),
    workspace_id: Type.String(),
    owner_id: Type.String(),
    device_id: Type.Optional(Type.String()),
    transcription_job_id: Type.String(),
    title: Type.String(),
    external_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "The id that a program gave it",
        examples: ["call-2026-000117"],
      }),
    ),
    metadata: metadataSchema,
    tags: tagsSchema,
    language: Type.String(),
    ...sessionEngine,
    ...sessionWarnings,
    ...sessionCompat,
    status: sessionStatus,
    visibility: Type.Union([Type.Literal("private"), Type.Literal("workspace")]),
    guest_access: guestAccess,
    workshop_id: Type.Optional(Type.String()),
    notes_template: Type.Optional(
      Type.Unsafe<NoteTemplateId>({
        ...notesTemplate,
        description: "By which its notes are arranged; absent: as its workspace says",
      }),
    ),
    speaker_channels: Type.Optional(
      Type.Integer({
        description: "How many channels of its sound are one speaker each; mixed without it",
      }),
    ),
    started_at: timestamp,
    stopped_at: Type.Optional(timestamp),
    duration_ms: Type.Optional(
      Type.Integer({
        description:
          "Length of its sound, milliseconds; left out until it was read to the end for the first time",
        examples: [63_500],
      }),
    ),
    stop_reason: Type.Optional(
      Type.Unsafe<StopReason>({
        type: "string",
        enum: ["device_silent", "not_audio"],
        description:
          "Set when the service stopped it: nothing came from its device (without one, no audio at all), or its device began it with a stream that was no audio",
      }),
    ),
    reason: Type.Optional(
      Type.Unsafe<FailureReason>({
        type: "string",
        enum: [...FAILURE_REASONS],
        description:
          "Why it failed: sound came and none of it could be read (each chunk says why), or no engine reads its language",
      }),
    ),
    completed_at: Type.Optional(timestamp),
    created_at: timestamp,
  },
  { $id: "Session" },
);

export const claimSource = Type.Union(
  [Type.Literal("self_claim"), Type.Literal("moderator_assignment")],
  { $id: "ClaimSource" },
);

export const speakerSchema = Type.Object(
  {
    speaker_label: Type.String({ examples: ["S1"] }),
    segment_count: Type.Integer(),
    speaking_ms: Type.Integer(),
    claimed_user_id: Type.Optional(Type.String()),
    display_name: Type.Optional(
      Type.String({ description: "Of whoever claimed the label, else its free name" }),
    ),
    free_name: Type.Optional(Type.String({ description: FREE_NAME, examples: ["The chair"] })),
    guest: Type.Optional(Type.Boolean({ description: "True when a guest claimed the label" })),
    guest_removed: Type.Optional(
      Type.Boolean({
        description:
          "True when that guest, or the code that they came by, was taken out of the session since. The claim stays until somebody with the right to takes it back",
      }),
    ),
    source: Type.Optional(claimSource),
  },
  { $id: "Speaker" },
);

export const speakersSchema = Type.Composite(
  [
    pageSchema(
      Type.Composite([
        speakerSchema,
        Type.Object({
          suggestions: Type.Optional(suggestionsSchema),
          merged: Type.Optional(
            Type.Array(
              Type.Object({
                label: Type.String({ description: "The label that became part", examples: ["S3"] }),
                into: Type.String({
                  description: "The label of which it became part",
                  examples: ["S2"],
                }),
              }),
              {
                description:
                  "The labels that are part of this one: POST /sessions/{session_id}/speakers/unmerge sets one apart. Absent where none is; merges by earlier releases are not told",
              },
            ),
          ),
          contested: Type.Optional(
            Type.Boolean({
              description:
                "True when somebody else has said since that the voice is theirs. Told to the session's owner and to whoever claims the label",
            }),
          ),
          voice_remembered_at: Type.Optional(
            Type.String({
              format: "date-time",
              description:
                "Since when the claimant's voice is remembered of this label. Told to them and to the session's owner, who ends it by taking the claim back or assigning the label to another",
            }),
          ),
        }),
      ]),
    ),
    Type.Object({
      suggested_names: Type.Array(Type.String(), {
        description:
          "Names of the active characters of the session's workshop, to offer for its voices; empty without a workshop, and for whoever may not see the workshop",
      }),
    }),
  ],
  { $id: "SpeakerPage" },
);

export type SpeakerPage = Static<typeof speakersSchema>;

/** A session as the API shows it; undefined members are omitted in JSON. */
export function presentSession(session: SessionRecord): Static<typeof sessionSchema> {
  return {
    id: session.id,
    workspace_id: session.workspaceId,
    owner_id: session.ownerId,
    device_id: session.deviceId,
    transcription_job_id: session.jobId,
    title: session.title,
    external_id: session.externalId,
    metadata: session.metadata,
    tags: session.tags,
    language: session.language,
    engine: session.engine,
    sound_leaves: session.soundLeaves || undefined,
    warnings: warningsOf(session.languageWarning),
    compat: session.compat,
    status: session.status,
    visibility: session.visibility,
    guest_access: session.guestAccess,
    workshop_id: session.workshopId,
    notes_template: session.notesTemplate,
    speaker_channels: session.speakerChannels,
    started_at: toTimestamp(session.startedAt),
    stopped_at: optionalTime(session.stoppedAt),
    duration_ms: session.durationMs,
    stop_reason: session.stopReason,
    reason: session.failureReason,
    completed_at: optionalTime(session.completedAt),
    created_at: toTimestamp(session.createdAt),
  };
}

/** A speaker as the API shows it. */
export function presentSpeaker(speaker: SpeakerRecord): Static<typeof speakerSchema> {
  return {
    speaker_label: speaker.label,
    segment_count: speaker.segmentCount,
    speaking_ms: speaker.speakingMs,
    claimed_user_id: speaker.claimedUserId,
    display_name: speaker.displayName,
    free_name: speaker.freeName,
    guest: speaker.isGuest || undefined,
    guest_removed: speaker.isRemoved || undefined,
    source: speaker.source,
  };
}

/** The labels that are part of a speaker's. */
export function presentMerges(merged: readonly SpeakerMerge[]): { merged?: SpeakerMerge[] } {
  return merged.length === 0 ? {} : { merged: [...merged] };
}

/** What only the owner and the claimant are told of a claim. */
export function presentClaim({ isContested, rememberedAt }: SpeakerRecord) {
  return {
    contested: isContested || undefined,
    voice_remembered_at: optionalTime(rememberedAt),
  };
}
