import type { Suspect } from "./status.ts";

/**
 * What goes with events into erasable tables, in the same transaction: words,
 * and the state from which a reading resumes.
 */
export type SessionWrite =
  | SegmentText
  | CheckpointWrite
  | HandedOnWrite
  | CheckpointsKeptWrite
  | ProgressWrite
  | SuspectsWrite;

export interface Word {
  text: string;
  /** Samples at 16 kHz on the session's timeline. */
  start: number;
  end: number;
  /** Of the recogniser in it, 0..1. */
  confidence: number;
  /** True below the floor that its engine announced; else absent. */
  unclear?: boolean | undefined;
  /** True where its times are not those at which it was said: see `TIMES_CLAMPED`. */
  timesClamped?: boolean | undefined;
}

/** The words of a segment as they stand. */
export interface SegmentWords {
  words: readonly Word[];
  text: string;
  confidence: number;
  revision: number;
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
  /** Stored as the placeholder, without its words. */
  redacted?: boolean;
}

/** Cluster of a checkpoint → index of the label that it has. */
export type Voices = Record<number, number>;

export interface CheckpointWrite {
  type: "Checkpoint";
  attempt: number;
  position: number;
  recogniser: Uint8Array;
  speakers: Uint8Array;
  voices: Voices;
  /** Of all checkpoints the newest at or before each of these stays; all others go. */
  keep: number[];
}

/**
 * Checkpoints of a second reading, from which late audio will be read that has
 * not come yet. They replace those inside of its span, which knew less.
 */
export interface HandedOnWrite {
  type: "HandedOn";
  attempt: number;
  /** Positions between these, neither of them included. */
  from: number;
  to: number;
  checkpoints: { position: number; recogniser: Uint8Array; speakers: Uint8Array; voices: Voices }[];
  /** As in CheckpointWrite. */
  keep: number[];
}

/** All was read: only what missing audio would be read from stays. */
export interface CheckpointsKeptWrite {
  type: "CheckpointsKept";
  attempt: number;
  /** As in CheckpointWrite. */
  keep: number[];
}

/** Share of the received audio that is final; never goes back within an attempt. */
export interface ProgressWrite {
  type: "Progress";
  jobId: string;
  progress: number;
}

/** All chunks of an attempt that readings broke at, in place of those stored before. */
export interface SuspectsWrite {
  type: "Suspects";
  attempt: number;
  suspects: Suspect[];
}
