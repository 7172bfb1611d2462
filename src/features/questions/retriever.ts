import type { SpokenConversation } from "./conversation-reader.ts";

/** What a question asks for, as far as it tells where to look. */
export interface QuestionPlan {
  /** Words worth searching for. */
  words: string[];
  /** When the conversations took place, Unix milliseconds. */
  days?: { from: number; to: number } | undefined;
}

export interface RetrieveQuestion {
  query: string;
  /** Unix milliseconds. */
  now: number;
  /** Who asks, for "what did I say". */
  askerId: string;
  /** True when the question is about several conversations. */
  across: boolean;
  conversations: readonly SpokenConversation[];
}

export interface RetrievedAnswer {
  text: string;
  /** In the order of their use. */
  toolsUsed: string[];
  citations: { sessionId: string; segmentId: string }[];
}

/**
 * Port: answers questions from conversations, and from nothing else; keeps nothing of them.
 * Rejects with `unavailable` when no worker is running, `overloaded` or `timeout`, always within
 * a few seconds, and when `signal` aborts.
 */
export interface Retriever {
  plan(query: string, now: number, signal: AbortSignal): Promise<QuestionPlan>;
  retrieve(question: RetrieveQuestion, signal: AbortSignal): Promise<RetrievedAnswer>;
}
