import type { NoticeCode } from "./notice-codes.ts";

/**
 * Frames of the live channel (contract §5). Times are seconds from the start
 * of the session's audio; `at` is RFC 3339. Durable frames carry `seq`, which
 * rises by one within a session.
 */
export interface Durable {
  session_id: string;
  seq: number;
  at: string;
}

export interface WordFrame {
  word: string;
  start: number;
  end: number;
  confidence: number;
  /** True below the floor of confidence of its engine; otherwise, and in interims, absent. */
  unclear?: boolean;
  /** Its times are the end of the place of a late chunk that is longer. */
  times_clamped?: boolean;
  speaker: string;
}

export interface ResultsBody {
  type: "Results";
  session_id: string;
  segment_id: string;
  revision: number;
  is_final: boolean;
  start: number;
  duration: number;
  transcript: string;
  confidence: number;
  speaker: string;
  words: WordFrame[];
}

/** Not durable: superseded by a later revision or the final of the same `segment_id`. */
export type InterimResultsFrame = ResultsBody & {
  is_final: false;
  /** So many leading words will very likely stand in the final. */
  stable_words: number;
};

export type FinalResultsFrame = ResultsBody & Durable & { is_final: true };

export interface SpeakerRevisionFrame extends Durable {
  type: "SpeakerRevision";
  revisions: { segment_id: string; speaker: string }[];
  merges: { from: string; into: string }[];
}

export interface SpeakerClaimedFrame extends Durable {
  type: "SpeakerClaimed";
  speaker_label: string;
  source?: "self_claim" | "moderator_assignment";
  claimed_user_id?: string;
  display_name?: string;
  revoked: boolean;
}

export interface TranscriptReplacedFrame extends Durable {
  type: "TranscriptReplaced";
  job_id: string;
  span: { start: number; end: number };
  removed_segment_ids: string[];
  segment_ids: string[];
  edits_replaced: number;
}

export type TranscriptionStatus = "pending" | "processing" | "completed" | "failed";

export interface ChunkStatusFrame extends Durable {
  type: "ChunkStatus";
  /** Absent while the chunk itself is missing. */
  chunk_id?: string;
  chunk_sequence: number;
  transcription_status: TranscriptionStatus;
  /** True when the audio did not come in time and its span stands as a gap. */
  missing?: boolean;
  start?: number;
  duration?: number;
  message?: string;
}

export type SessionStatus = "recording" | "processing" | "completed" | "failed" | "deleted";

/** How a session ends. Late audio or a redo can still turn `failed` into `completed`. */
export type SessionEnd = Extract<SessionStatus, "completed" | "failed">;

export interface SessionStatusFrame extends Durable {
  type: "SessionStatus";
  status: SessionStatus;
  /** Set when the service stopped it by itself. */
  reason?: "device_silent" | "not_audio";
}

export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

/** Durable when `status` changed; progress in between comes without `seq` and `at`. */
export interface JobStatusFrame extends Partial<Durable> {
  type: "JobStatus";
  session_id: string;
  job_id: string;
  status: JobStatus;
  progress: number;
  error?: string;
}

/** A person changed a segment. */
export interface SegmentRevisedFrame extends Durable {
  type: "SegmentRevised";
  segment_id: string;
  revision: number;
  transcript: string;
  speaker: string;
}

export interface RedactedFrame extends Durable {
  type: "Redacted";
  redaction_id: string;
  span: { start: number; end: number };
  /** Absent when everybody's words in the span were taken out. */
  speaker?: string | undefined;
  segment_ids: string[];
}

export interface SummaryUpdatedFrame extends Durable {
  type: "SummaryUpdated";
  job_id: string;
  summary_type: string;
}

export interface ConcernRaisedFrame extends Durable {
  type: "ConcernRaised";
  concern_id: string;
}

/** A durable event that this viewer has no use for, or may not see. */
export interface StubFrame extends Durable {
  type: "Stub";
}

export type DurableFrame =
  | FinalResultsFrame
  | SpeakerRevisionFrame
  | SpeakerClaimedFrame
  | TranscriptReplacedFrame
  | ChunkStatusFrame
  | SessionStatusFrame
  | (JobStatusFrame & Durable)
  | SegmentRevisedFrame
  | RedactedFrame
  | SummaryUpdatedFrame
  | ConcernRaisedFrame
  | StubFrame;

export interface SpeechStartedFrame {
  type: "SpeechStarted";
  session_id: string;
  start: number;
}

export interface UtteranceEndFrame {
  type: "UtteranceEnd";
  session_id: string;
  end: number;
}

export interface HeartbeatFrame {
  type: "Heartbeat";
  session_id: string;
  /** Newest durable `seq`, so that a lost tail is noticed. */
  seq: number;
  audio_received: number;
  audio_finalised: number;
  /** See `LAG`. */
  lag_ms: number;
  gaps: number;
  /** Of a recording session, once its device was heard of. */
  device?: DeviceFrame;
}

/** How the recording device does, as its newest heartbeat said. */
export interface DeviceFrame {
  presence: "online" | "offline";
  last_seen_at: string;
  battery_percent?: number;
  /** Recorded, and not sent yet. */
  buffered_chunks?: number;
}

/** Once for each subscription, after everything up to `seq`; corrections may still come. */
export interface SessionEndedFrame {
  type: "SessionEnded";
  session_id: string;
  status: SessionEnd;
  /** Of the last durable event before it. */
  seq: number;
}

export interface WarningFrame {
  type: "Warning" | "Error";
  session_id?: string;
  code: NoticeCode;
  message: string;
  retryable: boolean;
}

export interface SpeakerFrame {
  speaker_label: string;
  claimed_user_id?: string;
  display_name?: string;
  source?: "self_claim" | "moderator_assignment";
}

export interface SnapshotFrame {
  type: "Snapshot";
  session_id: string;
  seq: number;
  session: {
    id: string;
    workspace_id: string;
    title: string;
    status: SessionStatus;
    language: string;
    started_at: string;
    stopped_at?: string;
  };
  speakers: SpeakerFrame[];
  /** Final segments in order; when there are more than fit, `segments_cursor` leads to the rest over REST. */
  segments: SnapshotSegment[];
  segments_cursor?: string;
  interim?: InterimResultsFrame;
}

export interface SnapshotSegment {
  segment_id: string;
  revision: number;
  start: number;
  duration: number;
  transcript: string;
  confidence: number;
  speaker: string;
  /** Places in the transcript, from 0, of the words that are unclear; absent when there are none. */
  unclear_words?: number[];
}

export type TransientFrame =
  | InterimResultsFrame
  | SpeechStartedFrame
  | UtteranceEndFrame
  | HeartbeatFrame
  | JobStatusFrame
  | WarningFrame;

export type ServerFrame = DurableFrame | TransientFrame | SnapshotFrame | SessionEndedFrame;

/** Between processes only: there is an event of this `seq`, to be read in the journal. */
export interface NewestFrame {
  type: "Newest";
  session_id: string;
  seq: number;
}

/** What a session's actor publishes. */
export type PublishedFrame = DurableFrame | TransientFrame | NewestFrame;

/** How a session stands by the record. */
export interface SessionBeat {
  frame: HeartbeatFrame;
  /** It has ended, well or not: little more will happen in it. */
  isOver: boolean;
}

/** What a viewer sends. */
export type ViewerFrame =
  | { type: "Subscribe"; session_id: string; from_seq?: number }
  | { type: "Unsubscribe"; session_id: string }
  | { type: "KeepAlive" };

export const CLOSE = {
  done: 1000,
  goingAway: 1001,
  tooLarge: 1009,
  protocol: 4400,
  auth: 4401,
  forbidden: 4403,
  unknownSession: 4404,
  idle: 4408,
  superseded: 4409,
  tooSlow: 4410,
  rate: 4429,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];
