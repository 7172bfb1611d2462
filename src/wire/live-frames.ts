import type { Static } from "@sinclair/typebox";
import type { SERVER_FRAMES, VIEWER_FRAME_SCHEMAS } from "./live-schemas.ts";

type Frames = typeof SERVER_FRAMES;

/**
 * Frames of the live channel, as their schemas say. Times are seconds from the start of the
 * session's audio; `at` is RFC 3339.
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

/** How the recording device does, as its newest heartbeat said. */
export type DeviceFrame = NonNullable<HeartbeatFrame["device"]>;

export type WarningFrame = Frame<"Warning" | "Error">;

export type SnapshotFrame = Frame<"Snapshot">;
export type SpeakerFrame = SnapshotFrame["speakers"][number];
export type SnapshotSegment = SnapshotFrame["segments"][number];

export type TransientFrame =
  | Frame<"InterimResults" | "SpeechStarted" | "UtteranceEnd" | "Heartbeat" | "JobProgress">
  | WarningFrame;

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

type ViewerFrames = typeof VIEWER_FRAME_SCHEMAS;

/** What a viewer sends. */
export type ViewerFrame = Static<ViewerFrames[keyof ViewerFrames]>;

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
