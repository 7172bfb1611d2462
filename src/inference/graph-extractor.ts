import type { EntityType } from "../base/entity-types.ts";

/** A segment of a session as an extractor reads it. Positions are samples at 16 kHz. */
export interface GraphSegment {
  label: string;
  start: number;
  end: number;
  /** Unclear ones name nothing. */
  words: { text: string; start: number; end: number; unclear?: boolean | undefined }[];
}

export interface GraphSpeaker {
  label: string;
  /** Empty while nobody has claimed the label. */
  name: string;
}

export const RELATION_KINDS = ["co_occurrence", "action", "talks_about"] as const;

export type RelationKind = (typeof RELATION_KINDS)[number];

/** What was found. Indexes count from 0 into `entities` and the segments given. */
export interface ExtractedGraph {
  entities: {
    /** Normalised name. */
    key: string;
    /** It means something in its session only, such as "S1" or "tomorrow". */
    sessionOnly: boolean;
    type: EntityType;
    name: string;
    aliases: string[];
    labels: string[];
  }[];
  mentions: { entity: number; segment: number; start: number; end: number; spoke: boolean }[];
  links: {
    source: number;
    target: number;
    kind: RelationKind;
    label: string;
    weight: number;
    segment: number;
  }[];
}

/**
 * Port: finds entities in a session's words. The same words give the same graph.
 * Rejects with `unavailable`, `overloaded` or `timeout`, which may be tried again.
 */
export interface EntityExtractor {
  extract(
    sessionId: string,
    segments: readonly GraphSegment[],
    speakers: readonly GraphSpeaker[],
  ): Promise<ExtractedGraph>;
}
