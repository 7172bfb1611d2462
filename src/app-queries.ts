import type { QueryPorts } from "./api/queries.ts";
import type { WorkspaceSearchPorts } from "./api/workspace-search.ts";
import type { AppContext } from "./app-shared.ts";
import { PlacedRetriever } from "./inference/placed-retriever.ts";
import { WorkerClient } from "./inference/worker-client.ts";
import { PostgresConversations } from "./store/conversations.ts";
import type { PostgresSessions } from "./store/sessions.ts";
import { PostgresTranscriptSearch } from "./store/transcript-search.ts";
import { WorkspaceStore } from "./store/workspaces.ts";

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
