import type { EntityType } from "../../base/entity-types.ts";
import type { GraphSegment, GraphSpeaker, RelationKind } from "../../inference/grpc-entities.ts";

/** Times are Unix milliseconds; `from` belongs to the span, `to` does not. */
export interface GraphFilter {
  types?: readonly EntityType[];
  minMentions?: number;
  /** Part of a name or an alias, whatever the case. */
  text?: string;
  from?: number;
  to?: number;
  limit: number;
}

export interface EntityRecord {
  id: string;
  type: EntityType;
  name: string;
  aliases: string[];
  /** Labels of a speaker, by session. */
  labels: { sessionId: string; label: string }[];
  mentionCount: number;
  sessionCount: number;
  firstAt: number;
  lastAt: number;
}

/** Where something was said. Positions are samples at 16 kHz. */
export interface EvidenceRecord {
  sessionId: string;
  segmentId: string;
  start: number;
  end: number;
  label: string;
}

export interface RelationRecord {
  sourceId: string;
  targetId: string;
  kind: RelationKind;
  /** The verb of an action; empty otherwise. */
  label: string;
  weight: number;
  firstAt: number;
  lastAt: number;
  /** Some of the segments that say so, earliest first. */
  evidence: EvidenceRecord[];
}

export interface SpokenEvidence extends EvidenceRecord {
  text: string;
  /** The name of who claimed the label. */
  name: string | undefined;
  /** Unix milliseconds. */
  at: number;
}

export interface MentionRecord extends SpokenEvidence {
  /** True where the entity speaks, false where it is spoken of. */
  spoke: boolean;
}

/** Place of a mention in the order of an entity: by session, then by time. */
export interface MentionPosition {
  sessionId: string;
  start: number;
  segmentId: string;
  spoke: boolean;
}

/** Two entities that anything ties, with how strongly. */
export interface GraphEdge {
  sourceId: string;
  targetId: string;
  weight: number;
}

/** What a graph is made from, and what tells later whether it was still so. */
export interface GraphInput {
  sessionId: string;
  workspaceId: string;
  /** The newest seq of the session's journal, read before the words. */
  seq: number;
  segments: (GraphSegment & { id: string; hash: string })[];
  speakers: GraphSpeaker[];
}

/** A graph as it is kept. In a `co_occurrence` the source has the lesser id. */
export interface SessionGraph {
  entities: { id: string; type: EntityType; name: string; aliases: string[]; labels: string[] }[];
  mentions: { entityId: string; segmentId: string; start: number; end: number; spoke: boolean }[];
  links: {
    sourceId: string;
    targetId: string;
    kind: RelationKind;
    label: string;
    weight: number;
    segmentId: string;
  }[];
}

/** How a session's graph stands. */
export interface GraphState {
  sessionId: string;
  /** Unix milliseconds; undefined while there is none. */
  builtAt?: number | undefined;
  /** Milliseconds since then. */
  ageMs: number;
  /** Nothing has happened in the session since. */
  isCurrent: boolean;
  inputHash?: string | undefined;
}
