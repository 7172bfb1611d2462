import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import type { QuestionOptions } from "./ask.ts";
import { ConversationStore } from "./conversations-store.ts";
import { queryRoutes } from "./routes.ts";
import { workspaceSearchRoutes } from "./search.ts";
import { SearchStore } from "./search-store.ts";

interface CreateQuestionOptions {
  directory: SessionStore;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  retriever: QuestionOptions["retriever"];
}

/** Questions about sessions and workspaces, and the search in their words. */
export function createQuestions(
  { pool, clock, cursorKey }: FeatureContext,
  { directory, workspaces, retriever }: CreateQuestionOptions,
) {
  const search = new SearchStore(pool);
  const conversations = new ConversationStore(pool);
  const access = { directory, workspaces, workspaceSessions: search };
  /** For whoever asks over another transport. */
  const questions = { ...access, conversations, retriever, clock };
  return {
    questions,
    workspaceSessions: search,
    routes: [...queryRoutes(questions), ...workspaceSearchRoutes({ ...access, search, cursorKey })],
  };
}
