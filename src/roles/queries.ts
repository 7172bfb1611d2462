import { ConversationStore } from "../features/questions/conversations-store.ts";
import type { QueryOptions } from "../features/questions/routes.ts";
import type { WorkspaceSearchOptions } from "../features/questions/search.ts";
import { SearchStore } from "../features/questions/search-store.ts";
import { WorkerRetriever } from "../features/questions/worker-retriever.ts";
import type { SessionStore } from "../features/sessions/store.ts";
import { WorkspaceStore } from "../features/workspaces/store.ts";
import { WorkerClient } from "../inference/worker-client.ts";
import type { AppContext } from "./shared.ts";

/** Dependencies of the routes for questions and search. */
export function createQueryPorts(
  { config, clock, stack, shared }: AppContext,
  directory: SessionStore,
): QueryOptions & WorkspaceSearchOptions {
  const { pool, placement, keys } = shared;
  const client = new WorkerClient();
  stack.push("query client", () => client.close());
  const search = new SearchStore(pool);
  return {
    directory,
    workspaces: new WorkspaceStore(pool),
    workspaceSessions: search,
    conversations: new ConversationStore(pool),
    retriever: new WorkerRetriever({ placement, client, key: config.workerKey }),
    search,
    clock,
    cursorKey: keys.cursorKey,
  };
}
