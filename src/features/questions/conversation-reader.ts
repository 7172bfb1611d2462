/** A session with its words, as answers are made from it. Times on its timeline in milliseconds. */
export interface SpokenConversation {
  sessionId: string;
  title: string;
  /** BCP 47. */
  language: string;
  /** Unix milliseconds. */
  startedAtMs: number;
  voices: SpokenVoice[];
  /** In order of time; redacted ones are left out. */
  passages: SpokenPassage[];
}

export interface SpokenVoice {
  label: string;
  /** Of the person who claimed the label; empty when nobody did. */
  name: string;
  claimedUserId?: string | undefined;
}

export interface SpokenPassage {
  segmentId: string;
  startMs: number;
  endMs: number;
  label: string;
  text: string;
  /** Places, counted from 0, of the words of the text that are unclear. */
  unclear: number[];
}

/** Port: conversations to answer from. Every method throws `unavailable` when storage is away. */
export interface ConversationReader {
  /**
   * The conversations in the order of the ids, deleted ones left out; once `maxPassages` were
   * read the rest is left out too.
   */
  read(sessionIds: readonly string[], maxPassages: number): Promise<SpokenConversation[]>;
  /** Those of the sessions in which one of the words was said, the best first. */
  findSessions(
    sessionIds: readonly string[],
    words: readonly string[],
    limit: number,
  ): Promise<string[]>;
  /** Those of the sessions that began in the span, in the order of the ids. Unix milliseconds. */
  startedWithin(sessionIds: readonly string[], from: number, to: number): Promise<string[]>;
}
