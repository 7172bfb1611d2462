import type { EntityType } from "../../../base/entity-types.ts";
import type {
  GraphSegment,
  GraphSpeaker,
  RelationKind,
} from "../../../inference/worker-entities.ts";

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
  /** The speaker's labels, by session. */
  labels: { sessionId: string; label: string }[];
  mentionCount: number;
  sessionCount: number;
  firstAt: number;
  lastAt: number;
}

/** A segment that supports a relation. Positions are samples at 16 kHz. */
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
  /** Some of the segments that support the relation, earliest first. */
  evidence: EvidenceRecord[];
}

export interface SpokenEvidence extends EvidenceRecord {
  text: string;
  /** The name of the person who claimed the label. */
  name: string | undefined;
  /** Unix milliseconds. */
  at: number;
}

export interface MentionRecord extends SpokenEvidence {
  /** True where the entity speaks, false where it is mentioned. */
  spoke: boolean;
}

/** Position of a mention in an entity's list of mentions: by session, then by time. */
export interface MentionPosition {
  sessionId: string;
  start: number;
  segmentId: string;
  spoke: boolean;
}

/** Two entities with any tie, and its strength. */
export interface GraphEdge {
  sourceId: string;
  targetId: string;
  weight: number;
}

/** The input of a graph, with hashes that show later whether it has changed. */
export interface GraphInput {
  sessionId: string;
  workspaceId: string;
  /** BCP 47 tag of what is spoken. */
  language: string;
  /** The newest seq of the session's journal, read before the words. */
  seq: number;
  segments: (GraphSegment & { id: string; hash: string })[];
  speakers: GraphSpeaker[];
}

/** A graph as stored. In a `co_occurrence` the source has the lesser id. */
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

export interface GraphState {
  sessionId: string;
  /** Unix milliseconds; undefined while there is none. */
  builtAt?: number | undefined;
  /** Age of the graph, milliseconds. */
  ageMs: number;
  /** True when the session has not changed since the graph was made. */
  isCurrent: boolean;
  inputHash?: string | undefined;
  /** BCP 47 tag of what is spoken. */
  language: string;
}
