import type { Suspect } from "./status.ts";

/**
 * Data that is written with events, in the same transaction, to tables that can be erased: words,
 * and checkpoints from which a reading resumes.
 */
export type SessionWrite =
  | SegmentText
  | CandidateText
  | CandidateTaken
  | CheckpointWrite
  | HandedOnWrite
  | CheckpointsLimitWrite
  | ProgressWrite
  | SuspectsWrite;

export interface Word {
  text: string;
  /** Samples at 16 kHz on the session's timeline. */
  start: number;
  end: number;
  /** The recogniser's confidence in the word, 0..1. */
  confidence: number;
  /** True when the confidence is below the floor that the engine announced; else absent. */
  unclear?: boolean | undefined;
  /** True when the word's times are not those at which it was said: see `TIMES_CLAMPED`. */
  timesClamped?: boolean | undefined;
}

/** Speech of another segment's speaker within a segment; samples at 16 kHz. */
export interface SegmentOverlap {
  segmentId: string;
  start: number;
  end: number;
}

/** The same with the label that the other segment has now. */
export interface LabelledOverlap extends SegmentOverlap {
  label: string;
}

/** The current words of a segment. */
export interface SegmentWords {
  words: readonly Word[];
  text: string;
  confidence: number;
  revision: number;
  /** Absent where nobody else speaks. */
  overlaps?: readonly LabelledOverlap[] | undefined;
}

export interface SegmentText {
  type: "SegmentText";
  segmentId: string;
  attempt: number;
  start: number;
  end: number;
  label: string;
  words: Word[];
  confidence: number;
  /** How likely the voice is the label's, 0..1; absent when nobody knows. */
  speakerConfidence?: number | undefined;
  /** Where others speak within it; absent where nobody does. */
  overlaps?: readonly SegmentOverlap[] | undefined;
  /** True when the placeholder is stored instead of the words. */
  redacted?: boolean;
}

/** A segment of a redo's result that waits for a person's choice. */
export interface CandidateText extends Omit<SegmentText, "type"> {
  type: "CandidateText";
}

/** The words of a waiting result become the session's. */
export interface CandidateTaken {
  type: "CandidateTaken";
  segmentIds: string[];
  /** Those of them that are redacted. */
  redacted: string[];
}

/** Cluster of a checkpoint → index of its label. */
export type Voices = Record<number, number>;

export interface CheckpointWrite {
  type: "Checkpoint";
  attempt: number;
  position: number;
  recogniser: Uint8Array;
  speakers: Uint8Array;
  voices: Voices;
  /**
   * For each of these positions the newest checkpoint at or before it is kept; all others are
   * deleted.
   */
  keep: number[];
}

/**
 * Checkpoints of a second reading, from which audio that is still missing will be read. They
 * replace the older checkpoints inside its span, which knew less.
 */
export interface HandedOnWrite {
  type: "HandedOn";
  attempt: number;
  /** Both positions are exclusive. */
  from: number;
  to: number;
  checkpoints: { position: number; recogniser: Uint8Array; speakers: Uint8Array; voices: Voices }[];
  /** As in CheckpointWrite. */
  keep: number[];
}

/** All audio was read: only the checkpoints from which missing audio would be read are kept. */
export interface CheckpointsLimitWrite {
  type: "CheckpointsKept";
  attempt: number;
  /** As in CheckpointWrite. */
  keep: number[];
}

/** Share of the received audio that is final, 0..1; it never falls within an attempt. */
export interface ProgressWrite {
  type: "Progress";
  jobId: string;
  progress: number;
}

/** All chunks of an attempt at which readings broke; replaces those stored before. */
export interface SuspectsWrite {
  type: "Suspects";
  attempt: number;
  suspects: Suspect[];
}
