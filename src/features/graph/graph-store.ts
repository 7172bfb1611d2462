import type { EntityType } from "../../base/entity-types.ts";
import type { GraphSegment, GraphSpeaker, RelationKind } from "../../inference/graph-extractor.ts";

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

/** Port: the derived graphs of sessions. Every method throws `unavailable` when storage is away. */
export interface GraphStore {
  /** Tells the states of the sessions that exist and are not deleted. */
  states(sessionIds: readonly string[]): Promise<GraphState[]>;
  /** Undefined for a deleted session. Redacted segments are not among the words. */
  input(sessionId: string): Promise<GraphInput | undefined>;
  /** The same words as before: the graph stands for `seq` as well, if it did not already. */
  confirm(sessionId: string, seq: number, inputHash: string): Promise<void>;
  /**
   * Replaces the session's graph in one step. False, and nothing is kept, when any
   * word that went in has been changed, replaced or redacted meanwhile, or the
   * session deleted: no erased word comes back this way.
   */
  replace(input: GraphInput, inputHash: string, graph: SessionGraph): Promise<boolean>;
}
