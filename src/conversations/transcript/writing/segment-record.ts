import type { LabelledOverlap, Word } from "../../../session/write.ts";

/** A final segment with its words. Positions are samples at 16 kHz. */
export interface SegmentRecord {
  id: string;
  start: number;
  end: number;
  label: string;
  text: string;
  words: Word[];
  /** Mean confidence of the words, 0..1. */
  confidence: number;
  /** How likely the voice is the label's, 0..1; undefined when nobody knows. */
  speakerConfidence?: number | undefined;
  /** Where others speak within it, in order; undefined where nobody does. */
  overlaps?: readonly LabelledOverlap[] | undefined;
  revision: number;
  /** True when the words were redacted; a placeholder replaces them. */
  redacted?: boolean;
}

/** Missing audio: its nominal span on the timeline, samples at 16 kHz. */
export interface GapRecord {
  sequence: number;
  start: number;
  length: number;
}
