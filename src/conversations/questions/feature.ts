import { FairTurns } from "../../base/work/fair-turns.ts";
import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import { ConversationStore } from "./conversations-store.ts";
import { ModelAnswers } from "./model-answers.ts";
import { ModelShareStore } from "./model-share-store.ts";
import { queryRoutes } from "./routes.ts";
import { searchRoutes } from "./search.ts";
import { SearchStore } from "./search-store.ts";
import { ToolReadsStore } from "./tool-reads-store.ts";
import type { WorkerRetriever } from "./worker-retriever.ts";

interface CreateQuestionOptions {
  directory: SessionStore;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  retriever: Pick<WorkerRetriever, "plan" | "retrieve" | "takeTurn">;
  /** What a language model may do for questions. */
  model: QuestionModel;
}

export interface QuestionModel {
  /** The most that it may read and write a day for one tenant, tokens. */
  dailyTokens: number;
  /** How long it may take for an answer with all of its calls, milliseconds. */
  answerMs: number;
}

/** Questions that are answered at once, and wait: a worker takes up to 15 s for one. */
const TURNS = {
  ...{ queue: "questions", what: "Answering questions", atOnce: 8, atOnceOfOne: 4 },
  ...{ waiting: { capacity: 256, share: 64 }, longestWaitMs: 10_000, retryAfter: 5 },
};

/** Questions about sessions and workspaces, and the search in their words. */
export function createQuestions(
  context: FeatureContext,
  { directory, workspaces, retriever, model }: CreateQuestionOptions,
) {
  const { pool, clock, cursorKey, tenants, queues, languageModels, revocations } = context;
  const turns = new FairTurns(TURNS);
  queues.add(turns);
  const search = new SearchStore(pool);
  const conversations = new ConversationStore(pool);
  const access = { directory, workspaces, workspaceSessions: search };
  const answering = { ...access, conversations, retriever, clock, turns };
  const byModel = new ModelAnswers({
    ...{ ...answering, languageModels, revocations, answerMs: model.answerMs },
    reads: new ToolReadsStore(pool),
    shares: new ModelShareStore(pool, model.dailyTokens),
  });
  /** For whoever asks over another transport. */
  const questions = { ...answering, tenants, byModel };
  return {
    questions,
    workspaceSessions: search,
    routes: [...queryRoutes(questions), ...searchRoutes({ ...access, search, cursorKey })],
  };
}
