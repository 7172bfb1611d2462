import type { ClaimSource, StopReason } from "./status.ts";

/**
 * What happened in a session. Events carry ids, times and labels only; words
 * live in the segments table, so that a deletion is one place and a replay
 * still has every seq. Positions are samples at 16 kHz.
 */
export type SessionEvent =
  | SessionStarted
  | ChunkReceived
  | ChunkPlaced
  | ChunkTranscribed
  | ChunkFailed
  | GapDeclared
  | GapFilled
  | LateAudioDue
  | SegmentFinalised
  | SpeakersRevised
  | SpeakerClaimed
  | SpeakerUnclaimed
  | SessionStopped
  | SessionCompleted
  | SessionFailed
  | JobStarted
  | JobCompleted
  | JobFailed
  | TranscriptReplaced
  | RedoRequested
  | RedoCancelled
  | SegmentRevised
  | SpanRedacted
  | SummaryUpdated
  | ConcernRaised
  | SessionDeleted;

interface SessionStarted {
  type: "SessionStarted";
  sessionId: string;
  jobId: string;
  language: string;
}

/** A stored chunk is known to the session: its status is `pending`. */
export interface ChunkReceived {
  type: "ChunkReceived";
  chunkId: string;
  sequence: number;
  /** Frames in its container, at its own rate. */
  frames: number;
  sampleRate: number;
  /** Why it will fail as soon as it has its place. */
  unreadable?: string;
}

/** It has its place on the timeline: its status is `processing`. */
export interface ChunkPlaced {
  type: "ChunkPlaced";
  chunkId: string;
  sequence: number;
  start: number;
  length: number;
}

interface ChunkTranscribed {
  type: "ChunkTranscribed";
  chunkId: string;
  sequence: number;
}

interface ChunkFailed {
  type: "ChunkFailed";
  chunkId: string;
  sequence: number;
  code: string;
  message: string;
}

/** Waited long enough for this sequence: its nominal length stands as a gap. */
export interface GapDeclared {
  type: "GapDeclared";
  sequence: number;
  start: number;
  length: number;
  /** Newest checkpoint when it was declared. */
  pin: number;
  /** Clusters below this number had a voice at that checkpoint. */
  knownClusters: number;
  /** Nothing is placed after it: its length is 0 until its audio comes, and then that of the audio. */
  tail?: true;
}

/**
 * The missing chunk came after all; its span will be re-derived. `length` is
 * what it has on the timeline, at most the gap's: the chunk may hold more.
 */
export interface GapFilled {
  type: "GapFilled";
  chunkId: string;
  sequence: number;
  start: number;
  length: number;
  /** It waits for others until LateAudioDue; without this it waits for none. */
  collected?: true;
}

/** These late chunks wait for no others any more: what they are part of is read again. */
interface LateAudioDue {
  type: "LateAudioDue";
  sequences: number[];
}

export interface SegmentFinalised {
  type: "SegmentFinalised";
  segmentId: string;
  start: number;
  end: number;
  label: string;
  cluster: number;
  /** End of its utterance. */
  checkpoint: number;
  /** The newest checkpoint when it was stored; absent of releases that stored one with each. */
  resume?: number;
}

export interface SpeakersRevised {
  type: "SpeakersRevised";
  revisions: { segmentId: string; start: number; label: string; cluster: number }[];
  /** Labels found to be the same voice; the older (`into`) survives. */
  merges: { from: string; into: string }[];
  finalPass: boolean;
}

export interface SpeakerClaimed {
  type: "SpeakerClaimed";
  label: string;
  source: ClaimSource;
  claimedUserId: string;
  byUserId: string;
}

export interface SpeakerUnclaimed {
  type: "SpeakerUnclaimed";
  label: string;
  byUserId: string;
}

export interface SessionStopped {
  type: "SessionStopped";
  /** Highest sequence that belongs to the session; -1 when there is none. */
  lastSequence: number;
  /** Absent when somebody stopped it. */
  reason?: StopReason;
}

export interface SessionCompleted {
  type: "SessionCompleted";
}

/** It ended without any audio that could be read. */
export interface SessionFailed {
  type: "SessionFailed";
  message: string;
}

export interface JobStarted {
  type: "JobStarted";
  jobId: string;
  attempt: number;
  engine: string;
  diarisationModelVersion: string;
  detectedLanguage: string;
}

export interface JobCompleted {
  type: "JobCompleted";
  jobId: string;
  attempt: number;
  segmentCount: number;
  speakerCount: number;
  durationMs: number;
}

export interface JobFailed {
  type: "JobFailed";
  jobId: string;
  attempt: number;
  message: string;
}

/** Segments that start in [from, to) were replaced by a second reading. */
export interface TranscriptReplaced {
  type: "TranscriptReplaced";
  jobId: string;
  attempt: number;
  from: number;
  to: number;
  removed: { segmentId: string; start: number }[];
  added: {
    segmentId: string;
    start: number;
    end: number;
    label: string;
    cluster: number;
    redacted?: true;
  }[];
  /** Sequences whose late audio this reading included. */
  sequences: number[];
  /** Segments among `removed` that a person had changed; only a redo removes such. */
  editsReplaced?: number;
}

/** The whole session is read again; the text that stands stays until the new one replaces it. */
export interface RedoRequested {
  type: "RedoRequested";
  jobId: string;
  attempt: number;
  byUserId: string;
}

/** The second reading is given up; the text that stands stays for good. */
export interface RedoCancelled {
  type: "RedoCancelled";
  jobId: string;
  attempt: number;
  byUserId: string;
}

/** A person changed a segment's text (the words are in the segments table), or its speaker. */
export interface SegmentRevised {
  type: "SegmentRevised";
  segmentId: string;
  start: number;
  revision: number;
  label: string;
  /** Row of `segment_edits` that holds the new text; absent when only the speaker changed. */
  editId?: string;
  byUserId: string;
}

/** Words in [from, to), or all words of one speaker, were taken out for good. */
export interface SpanRedacted {
  type: "SpanRedacted";
  redactionId: string;
  from: number;
  to: number;
  label?: string;
  segmentIds: string[];
  byUserId: string;
}

interface SummaryUpdated {
  type: "SummaryUpdated";
  jobId: string;
  summaryType: string;
}

interface ConcernRaised {
  type: "ConcernRaised";
  concernId: string;
}

/** Written by the deletion itself, past the actor; nothing follows it. */
export interface SessionDeleted {
  type: "SessionDeleted";
  kind: string;
}
