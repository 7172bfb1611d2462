import { FairTurns } from "../../base/work/fair-turns.ts";
import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import type { QuestionOptions } from "./ask.ts";
import { ConversationStore } from "./conversations-store.ts";
import { queryRoutes } from "./routes.ts";
import { searchRoutes } from "./search.ts";
import { SearchStore } from "./search-store.ts";

interface CreateQuestionOptions {
  directory: SessionStore;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  retriever: QuestionOptions["retriever"];
}

/** Questions that are answered at once, and wait: a worker takes up to 15 s for one. */
const TURNS = {
  ...{ queue: "questions", what: "Answering questions", atOnce: 8, atOnceOfOne: 4 },
  ...{ waiting: { capacity: 256, share: 64 }, longestWaitMs: 10_000, retryAfter: 5 },
};

/** Questions about sessions and workspaces, and the search in their words. */
export function createQuestions(
  { pool, clock, cursorKey, tenants, queues }: FeatureContext,
  { directory, workspaces, retriever }: CreateQuestionOptions,
) {
  const turns = new FairTurns(TURNS);
  queues.add(turns);
  const search = new SearchStore(pool);
  const conversations = new ConversationStore(pool);
  const access = { directory, workspaces, workspaceSessions: search };
  /** For whoever asks over another transport. */
  const questions = { ...access, conversations, retriever, clock, tenants, turns };
  return {
    questions,
    workspaceSessions: search,
    routes: [...queryRoutes(questions), ...searchRoutes({ ...access, search, cursorKey })],
  };
}
