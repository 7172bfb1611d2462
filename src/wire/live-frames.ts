import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { FREE_NAME, HEARD_ON, LAG, TIMES_CLAMPED } from "./field-descriptions.ts";
import { NOTICE_CODES, type NoticeCode } from "./notice-codes.ts";
import { frameOverlaps } from "./overlaps.ts";
import { sessionEngine, sessionRecord } from "./session-record.ts";
import { speakerConfidence } from "./speaker-confidence.ts";

const seconds = (description: string) => Type.Number({ description: `${description}, in seconds` });
export const oneOf = <T extends string>(...values: T[]) =>
  Type.Unsafe<T>({ type: "string", enum: values });

const sessionId = Type.String({ description: "UUID of the session" });
const segmentId = Type.String({
  description: "Interim and final results of one utterance share it",
});
const speaker = Type.String({ description: "`S1`, `S2`, …, or `UU` when unknown" });
const status = oneOf("recording", "processing", "completed", "failed", "deleted");
const source = oneOf("self_claim", "moderator_assignment");

const durable = {
  session_id: sessionId,
  seq: Type.Integer({ description: "Rises by one within a session, without gaps" }),
  at: Type.String({ description: "RFC 3339, UTC, milliseconds" }),
};

export function transient<N extends string, P extends TProperties>(type: N, members: P) {
  return Type.Object({ type: Type.Literal(type), session_id: sessionId, ...members });
}

function event<N extends string, P extends TProperties>(type: N, members: P) {
  return Type.Object({ type: Type.Literal(type), ...durable, ...members });
}

const word = Type.Object({
  word: Type.String(),
  start: seconds("From the start of the session's audio"),
  end: seconds("From the start of the session's audio"),
  confidence: Type.Number(),
  unclear: Type.Optional(
    Type.Boolean({
      description:
        "True where the recogniser is likely to have misheard: below its engine's floor of confidence. Otherwise absent, as in interim results",
    }),
  ),
  /** True when its times were cut to the end of a late chunk's place on the timeline. */
  times_clamped: Type.Optional(Type.Boolean({ description: TIMES_CLAMPED })),
  speaker,
});

const utterance = {
  segment_id: segmentId,
  start: seconds("From the start of the session's audio"),
  duration: seconds("Length"),
  transcript: Type.String(),
  confidence: Type.Number(),
  speaker,
  speaker_confidence: Type.Optional(speakerConfidence),
  ...frameOverlaps,
};

const channel = Type.Optional(Type.Integer({ minimum: 0, description: HEARD_ON }));
const results = {
  ...utterance,
  channel,
  revision: Type.Integer({
    description:
      "Counts the versions of its text; drop an interim whose revision was seen, or whose final was",
  }),
  words: Type.Array(word),
};

const interimResults = transient("Results", {
  ...results,
  is_final: Type.Literal(false),
  stable_words: Type.Integer({
    minimum: 0,
    description: "So many leading words will very likely stand in the final; the rest may change",
  }),
});

const span = Type.Object({ start: seconds("Begin"), end: seconds("End") });

const claim = {
  speaker_label: speaker,
  source: Type.Optional(source),
  claimed_user_id: Type.Optional(Type.String()),
  display_name: Type.Optional(Type.String()),
};

const freeName = Type.Optional(Type.String({ description: FREE_NAME }));

const job = {
  job_id: Type.String(),
  status: oneOf("queued", "running", "completed", "failed", "cancelled"),
  progress: Type.Number({ description: "0 to 1" }),
  error: Type.Optional(Type.String()),
};

/** Defines a notice with examples; without them, `code` would get the example of a pairing code. */
function remark(code: NoticeCode, message: string, isRetryable: boolean) {
  return {
    session_id: Type.Optional(sessionId),
    code: Type.Unsafe<NoticeCode>({
      type: "string",
      enum: NOTICE_CODES,
      description: "For machines; a closed list",
      examples: [code],
    }),
    message: Type.String({ description: "For people", examples: [message] }),
    retryable: Type.Boolean({
      description: "The same may work later",
      examples: [isRetryable],
    }),
  };
}

const snapshotSegment = Type.Object({
  ...utterance,
  revision: Type.Integer(),
  unclear_words: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0 }), {
      description:
        "Places in `transcript`, counted from 0, of the words that are `unclear`; absent when there are none",
    }),
  ),
});

const snapshot = transient("Snapshot", {
  seq: Type.Integer({ description: "Newest durable event that it holds" }),
  seq_at: Type.Optional(
    Type.String({ description: "The `at` of that event; absent before the first" }),
  ),
  session: sessionRecord(status),
  speakers: Type.Array(Type.Object({ ...claim, free_name: freeName })),
  /** Final segments in order; when not all fit, the cursor leads to the rest. */
  segments: Type.Array(snapshotSegment),
  segments_cursor: Type.Optional(
    Type.String({ description: "Leads to the rest at GET /sessions/{id}/segments" }),
  ),
  interim: Type.Optional(interimResults),
});

const chunkStatus = event("ChunkStatus", {
  chunk_id: Type.Optional(Type.String({ description: "Absent while the chunk is missing" })),
  chunk_sequence: Type.Integer(),
  transcription_status: oneOf("pending", "processing", "completed", "failed"),
  /** True when the audio did not come in time and its span became a gap. */
  missing: Type.Optional(Type.Boolean()),
  start: Type.Optional(results.start),
  duration: Type.Optional(results.duration),
  message: Type.Optional(Type.String()),
});

const device = Type.Object(
  {
    presence: oneOf("online", "offline"),
    last_seen_at: Type.String({ description: "RFC 3339, UTC, milliseconds" }),
    battery_percent: Type.Optional(Type.Number()),
    buffered_chunks: Type.Optional(Type.Integer({ description: "Recorded, and not sent yet" })),
  },
  {
    description:
      "How the recording device does; the Warnings device_offline and device_online tell of a change",
  },
);

/** All frames that the service sends on the live channel, by message name, with a summary. */
export const SERVER_FRAMES = {
  Snapshot: { summary: "The session as it stands; then come its events.", payload: snapshot },
  InterimResults: {
    summary: "What an utterance sounds like so far: a `Results` with `is_final` false.",
    payload: interimResults,
  },
  FinalResults: {
    summary:
      "An utterance; its words are not changed again by the recogniser: a `Results` with `is_final` true.",
    payload: event("Results", { ...results, is_final: Type.Literal(true) }),
  },
  SpeechStarted: {
    summary: "Somebody begins to speak.",
    payload: transient("SpeechStarted", { start: results.start, channel }),
  },
  UtteranceEnd: {
    summary: "An utterance is over.",
    payload: transient("UtteranceEnd", { end: results.start }),
  },
  SegmentRevised: {
    summary: "A person corrected a segment.",
    payload: event("SegmentRevised", {
      segment_id: segmentId,
      revision: Type.Integer(),
      transcript: Type.String(),
      speaker,
    }),
  },
  TranscriptReplaced: {
    summary:
      "A span was recognised once more: as somebody asked for, or as audio of it came late. GET /sessions/{session_id}/segments/{segment_id} of each of `segment_ids`, or the transcript, has its words.",
    payload: event("TranscriptReplaced", {
      job_id: Type.String(),
      span,
      removed_segment_ids: Type.Array(Type.String()),
      segment_ids: Type.Array(Type.String()),
      edits_replaced: Type.Integer({
        minimum: 0,
        description:
          "So many of the removed segments had been edited by a person. Only a redo that somebody asked for replaces such ones",
        examples: [0],
      }),
    }),
  },
  SpeakerRevision: {
    summary: "Who spoke was found out anew; the `speaker_confidence` of what it names is null now.",
    payload: event("SpeakerRevision", {
      revisions: Type.Array(Type.Object({ segment_id: segmentId, speaker })),
      merges: Type.Array(Type.Object({ from: speaker, into: speaker })),
    }),
  },
  SpeakerClaimed: {
    summary: "A label was claimed, or a claim taken back.",
    payload: event("SpeakerClaimed", { ...claim, revoked: Type.Boolean() }),
  },
  SpeakerNamed: {
    summary: "A label got a free name, or lost it: then `free_name` is absent.",
    payload: event("SpeakerNamed", { speaker_label: speaker, free_name: freeName }),
  },
  ChunkStatus: { summary: "A chunk's status changed.", payload: chunkStatus },
  SessionStatus: {
    summary: "The session's status changed.",
    payload: event("SessionStatus", {
      status,
      reason: Type.Optional(
        Type.Unsafe<"device_silent" | "not_audio" | "audio_unreadable" | "language_unsupported">({
          type: "string",
          enum: ["device_silent", "not_audio", "audio_unreadable", "language_unsupported"],
          description:
            "Set when the service stopped it: nothing came from its device, or its device began it with a stream that was no audio. Set when it failed: sound came and none of it could be read, or no engine reads its language",
        }),
      ),
    }),
  },
  SessionEnded: {
    summary:
      "The session is over and all of it was sent. Once for each subscription, whether it began before the end or after it; a viewer that wants the transcript may go. The subscription stays: edits, redone work and late audio come as events of their own, and are followed by no second one.",
    payload: transient("SessionEnded", {
      status: oneOf("completed", "failed"),
      seq: Type.Integer({ description: "Of the last durable event before it" }),
    }),
  },
  JobStatus: {
    summary: "A job's status changed.",
    payload: event("JobStatus", { ...job, ...sessionEngine }),
  },
  JobProgress: {
    summary: "A job went on: a `JobStatus` that is not durable, without `seq` and `at`.",
    payload: transient("JobStatus", job),
  },
  SummaryUpdated: {
    summary: "A summary is there.",
    payload: event("SummaryUpdated", {
      job_id: Type.String(),
      summary_type: Type.String({ examples: ["brief"] }),
    }),
  },
  Redacted: {
    summary:
      "Words were taken out for good. GET /sessions/{session_id}/segments/{segment_id} of each of `segment_ids` has what is left.",
    payload: event("Redacted", {
      redaction_id: Type.String(),
      span,
      /** Absent when the words of all speakers in the span were redacted. */
      speaker: Type.Optional(speaker),
      segment_ids: Type.Array(Type.String()),
    }),
  },
  ConcernRaised: {
    summary: "Somebody found something wrong.",
    payload: event("ConcernRaised", { concern_id: Type.String() }),
  },
  AnnotationChanged: {
    summary:
      "Somebody marked a moment of the session, changed or deleted a mark, or changed an action item. GET /sessions/{session_id}/marks/{mark_id} or /sessions/{session_id}/action-items/{item_id} has it.",
    payload: event("AnnotationChanged", {
      annotation_type: oneOf("mark", "action_item"),
      annotation_id: Type.String(),
      removed: Type.Boolean({ description: "True where a mark was deleted" }),
    }),
  },
  GuestJoined: {
    summary:
      "Somebody came in as a guest, and reads along from now on. The session's owner can remove them.",
    payload: event("GuestJoined", {
      guest_id: Type.String(),
      display_name: Type.String({ description: "As they call themselves; nobody has checked it" }),
    }),
  },
  Stub: {
    summary:
      "In place of an event that no viewer is told, or whose words are no more: erased, or of a segment that was replaced since; a later TranscriptReplaced or Redacted tells what stands now.",
    payload: event("Stub", {}),
  },
  Heartbeat: {
    summary: "Sign of life with the newest `seq`, so that a lost tail is noticed.",
    payload: transient("Heartbeat", {
      seq: Type.Integer({
        description:
          "Newest durable event of the session; the frame itself is none. Whoever has a lower one in hand waits for the events between, or connects again with `from_seq`",
      }),
      audio_received: seconds("End of the audio that has come, on the timeline"),
      audio_finalised: seconds("Up to here its text is final, on the timeline"),
      lag_ms: Type.Number({ description: LAG }),
      gaps: Type.Integer(),
      /** Set for a recording session, once its device was heard from. */
      device: Type.Optional(device),
    }),
  },
  Warning: {
    summary: "Something is not as it should be.",
    payload: Type.Object({
      type: Type.Literal("Warning"),
      ...remark(
        "overloaded",
        "All workers are busy; the audio is safe and its text comes later.",
        true,
      ),
    }),
  },
  Error: {
    summary: "A frame or a subscription was refused; `retryable` says whether to try again.",
    payload: Type.Object({
      type: Type.Literal("Error"),
      ...remark("bad_request", "Send Configure or Resume, and wait for Begin.", false),
    }),
  },
} as const satisfies Record<string, { summary: string; payload: TObject }>;

type Frames = typeof SERVER_FRAMES;

/**
 * A frame of the live channel. Times are seconds from the start of the session's audio; `at` is RFC
 * 3339.
 */
type Frame<N extends keyof Frames> = Static<Frames[N]["payload"]>;

export type ServerFrame = Frame<keyof Frames>;

/** Members of durable frames; `seq` rises by one within a session. */
export interface Durable {
  session_id: string;
  seq: number;
  at: string;
}

export type DurableFrame = Extract<ServerFrame, Durable>;

/** Not durable: superseded by a later revision or the final of the same `segment_id`. */
export type InterimResultsFrame = Frame<"InterimResults">;
export type FinalResultsFrame = Frame<"FinalResults">;
export type ResultsBody = InterimResultsFrame | FinalResultsFrame;
export type WordFrame = InterimResultsFrame["words"][number];

export type ChunkStatusFrame = Frame<"ChunkStatus">;
export type RedactedFrame = Frame<"Redacted">;
export type SessionStatus = Frame<"SessionStatus">["status"];

/** How a session ends. Late audio or a redo can still turn `failed` into `completed`. */
export type SessionEnd = Frame<"SessionEnded">["status"];

export type HeartbeatFrame = Frame<"Heartbeat">;

/** State of the recording device, from its newest heartbeat. */
export type DeviceFrame = NonNullable<HeartbeatFrame["device"]>;

export type WarningFrame = Frame<"Warning" | "Error">;

export type SnapshotFrame = Frame<"Snapshot">;
export type SpeakerFrame = SnapshotFrame["speakers"][number];
export type SnapshotSegment = SnapshotFrame["segments"][number];

export type TransientFrame =
  | Frame<"InterimResults" | "SpeechStarted" | "UtteranceEnd" | "Heartbeat" | "JobProgress">
  | WarningFrame;

/** Sent between processes only: the event of this `seq` must be read from the journal. */
export interface NewestFrame {
  type: "Newest";
  session_id: string;
  seq: number;
}

/** A frame that a session's actor publishes. */
export type PublishedFrame = DurableFrame | TransientFrame | NewestFrame;

/** State of a session, read from the database. */
export interface SessionHeartbeat {
  frame: HeartbeatFrame;
  /** True when the session has completed or failed: few events follow. */
  isOver: boolean;
}
