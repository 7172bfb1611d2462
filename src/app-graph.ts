import type { GraphPorts } from "./api/graph.ts";
import { GraphBuilder } from "./api/graph-builder.ts";
import type { AppContext } from "./app-shared.ts";
import { GrpcEntities } from "./inference/grpc-entities.ts";
import { PostgresGraphBuilds } from "./store/graph-builds.ts";
import { PostgresGraphReads } from "./store/graph-reads.ts";
import { PostgresTranscriptSearch } from "./store/transcript-search.ts";

/** Graphs: made by the workers, kept and put together by the database. */
export function createGraphPorts(
  { config, log, stack, shared, queues }: AppContext,
  known: Pick<GraphPorts, "directory" | "workspaces">,
): GraphPorts {
  const { pool, placement, keys } = shared;
  const extractor = new GrpcEntities({ placement, key: config.workerKey });
  const builder = new GraphBuilder({ store: new PostgresGraphBuilds(pool), extractor, log });
  queues.add(builder);
  stack.push("graph builder", () => {
    extractor.close();
    return builder.close();
  });
  return {
    ...known,
    workspaceSessions: new PostgresTranscriptSearch(pool),
    builder,
    graphs: new PostgresGraphReads(pool),
    cursorKey: keys.cursorKey,
  };
}
