import type { EntityType } from "../../../src/base/entity-types.ts";

/** One term of a tagged sentence, with the index of its word. */
export interface TaggedTerm {
  /** Lower case, without punctuation; contractions are split. */
  normal: string;
  tags: ReadonlySet<string>;
  /** Index into the segment's words. */
  word: number;
  /** True when punctuation follows it, a comma or a full stop, or when it is unclear. */
  breaks: boolean;
  /**
   * True when the word is unclear: it helps to parse its surroundings, but names nothing itself.
   */
  unclear: boolean;
}

/** A sequence of terms that names an entity. `to` is exclusive. */
export interface Span {
  type: Exclude<EntityType, "speaker">;
  from: number;
  to: number;
  /** The original text, without punctuation around it. */
  text: string;
}

export interface TaggedSentence {
  terms: TaggedTerm[];
  /** Spans in order, without overlaps. */
  spans: Span[];
}
