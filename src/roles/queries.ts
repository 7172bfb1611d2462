import { PostgresConversations } from "../features/questions/conversations-store.ts";
import type { QueryPorts } from "../features/questions/routes.ts";
import type { WorkspaceSearchPorts } from "../features/questions/search.ts";
import { PostgresTranscriptSearch } from "../features/questions/search-store.ts";
import { PlacedRetriever } from "../features/questions/worker-retriever.ts";
import type { PostgresSessions } from "../features/sessions/store.ts";
import { WorkspaceStore } from "../features/workspaces/store.ts";
import { WorkerClient } from "../inference/worker-client.ts";
import type { AppContext } from "./shared.ts";

/** Questions about sessions and workspaces, and the search in their words. */
export function createQueryPorts(
  { config, clock, stack, shared }: AppContext,
  directory: PostgresSessions,
): QueryPorts & WorkspaceSearchPorts {
  const { pool, placement, keys } = shared;
  const client = new WorkerClient();
  stack.push("query client", () => client.close());
  const search = new PostgresTranscriptSearch(pool);
  return {
    directory,
    workspaces: new WorkspaceStore(pool),
    workspaceSessions: search,
    conversations: new PostgresConversations(pool),
    retriever: new PlacedRetriever({ placement, client, key: config.workerKey }),
    search,
    clock,
    cursorKey: keys.cursorKey,
  };
}
