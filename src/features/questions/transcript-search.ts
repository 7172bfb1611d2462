/** What is looked for in the words of sessions. */
export interface SearchFilter {
  /** As people write in a search field: words, "phrases", or, -not. */
  text: string;
  /** A label, or a part of the name of the person who claimed it. */
  speaker?: string | undefined;
  /** When it was said, Unix milliseconds; `to` is not included. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Place in the order of hits: the best first. */
export interface HitPosition {
  rank: number;
  sessionId: string;
  segmentId: string;
}

/** A segment that was found. */
export interface SearchHit extends HitPosition {
  title: string;
  /** On the session's timeline, milliseconds. */
  startMs: number;
  endMs: number;
  /** When it was said, Unix milliseconds. */
  at: number;
  label: string;
  /** Of the person who claimed the label; empty when nobody did. */
  speakerName: string;
  text: string;
  /** The text around what was found, in pieces: those that match and those between them. */
  snippet: { text: string; isMatch: boolean }[];
}

/** Port: full-text search in the words of sessions. Throws `unavailable` when storage is away. */
export interface TranscriptSearch {
  /** The best hits after `after`, in the given sessions only; redacted segments are never found. */
  search(
    sessionIds: readonly string[],
    filter: SearchFilter,
    page: { after?: HitPosition | undefined; limit: number },
  ): Promise<SearchHit[]>;
}
