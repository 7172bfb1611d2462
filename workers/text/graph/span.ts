import type { EntityType } from "../../../src/base/entity-types.ts";

/** One term of a tagged sentence, with the word it came from. */
export interface TaggedTerm {
  /** Lower case, without punctuation; contractions are taken apart. */
  normal: string;
  tags: ReadonlySet<string>;
  /** Index into the segment's words. */
  word: number;
  /** A pause is written after it, a comma or a full stop; or it was not heard clearly. */
  breaks: boolean;
  /** Not heard clearly: it helps to read what stands around it, and names nothing itself. */
  unclear: boolean;
}

/** A stretch of terms that names something. `to` is exclusive. */
export interface Span {
  type: Exclude<EntityType, "speaker">;
  from: number;
  to: number;
  /** As it was written, without punctuation around it. */
  text: string;
}

export interface TaggedSentence {
  terms: TaggedTerm[];
  /** In order, none overlapping. */
  spans: Span[];
}
