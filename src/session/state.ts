import type { SegmentMark } from "./segments.ts";
import { noSpeakers, type Speakers } from "./speakers.ts";
import type { ReviewOutcome, SessionPhase } from "./status.ts";
import { emptyTimeline, type Timeline } from "./timeline.ts";

/** The state by which a session's actor decides. Plain data: a snapshot is this as JSON. */
export interface SessionState {
  /** `new` until the Start command came. */
  phase: SessionPhase | "new";
  sessionId: string;
  jobId: string;
  language: string;
  /** Attempt number of the first reading. */
  attempt: number;
  /** The highest attempt handed out so far. */
  attempts: number;
  jobStarted: boolean;
  /** Attempt of a redo that is under way. */
  redo: { attempt: number; started: boolean; review?: true } | undefined;
  /** The result of a redo that waits for a person's choice. */
  candidate?: Candidate | undefined;
  /** What became of the newest such result. */
  reviewed?: { attempt: number; outcome: ReviewOutcome } | undefined;
  timeline: Timeline;
  speakers: Speakers;
  segments: SegmentMark[];
  /** End of the utterance of the newest segment; 0 when there is none. */
  checkpoint: number;
  /** Position of the newest stored checkpoint at the newest segment; see `resumesAt`. */
  resume?: number | undefined;
  stop: { lastSequence: number; at: number } | undefined;
  /** At least one chunk that holds sound was transcribed. */
  heard: boolean;
  /** A chunk came that could not be read, and none that could. */
  lost?: true;
  /** The session was stopped because its device streamed something that is not audio. */
  refused?: true;
  /** Redacted spans, whose words must not come back when audio is read again. */
  redactions: Redaction[];
  /** The newest concerns that were raised, so that none is raised twice. */
  concerns?: string[];
}

/** The result of a redo that has not replaced the text. */
export interface Candidate {
  attempt: number;
  segments: SegmentMark[];
  /** Ids of the segments that stay whatever is chosen. */
  kept: string[];
}

/** A redaction of all speakers in [from, to), or of one speaker there. */
export interface Redaction {
  from: number;
  to: number;
  label?: string | undefined;
  /** The redaction's id and the user who made it; absent in snapshots of earlier releases. */
  redactionId?: string;
  byUserId?: string;
}

export function initialState(sessionId: string): SessionState {
  return {
    phase: "new",
    sessionId,
    jobId: "",
    language: "en",
    attempt: 1,
    attempts: 1,
    jobStarted: false,
    redo: undefined,
    timeline: emptyTimeline(),
    speakers: noSpeakers(),
    segments: [],
    checkpoint: 0,
    stop: undefined,
    heard: false,
    redactions: [],
  };
}
