import type { SegmentMark } from "./segments.ts";
import { noSpeakers, type Speakers } from "./speakers.ts";
import type { SessionPhase } from "./status.ts";
import { emptyTimeline, type Timeline } from "./timeline.ts";

/** Everything a session's actor decides by. Plain data: a snapshot is this as JSON. */
export interface SessionState {
  /** `new` until the Start command came. */
  phase: SessionPhase | "new";
  sessionId: string;
  jobId: string;
  language: string;
  /** Number of the reading; rises with every redo and re-derivation. */
  attempt: number;
  /** The highest attempt handed out so far. */
  attempts: number;
  jobStarted: boolean;
  /** Attempt of a redo that is under way. */
  redo: { attempt: number; started: boolean } | undefined;
  timeline: Timeline;
  speakers: Speakers;
  segments: SegmentMark[];
  /** End of the utterance of the newest segment; 0 when there is none. */
  checkpoint: number;
  /** The newest checkpoint by then; see `resumesAt`. */
  resume?: number | undefined;
  stop: { lastSequence: number; at: number } | undefined;
  /** A chunk of it was read. */
  heard: boolean;
  /** It was stopped because what its device streamed is no audio. */
  refused?: true;
  /** What may never come back as text, whatever is read again. */
  redactions: Redaction[];
  /** Newest concerns that were told of, so that none is told of twice. */
  concerns?: string[];
}

/** Of everybody in [from, to), or of one speaker there. */
export interface Redaction {
  from: number;
  to: number;
  label?: string | undefined;
  /** Which one it is, and whose; snapshots of earlier releases do not say. */
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
