import type { WorkerEntities } from "../../../inference/worker-entities.ts";
import type { WorkspaceStore } from "../../../tenancy/workspaces/store.ts";
import type { FeatureContext } from "../../context.ts";
import type { SessionStore } from "../../sessions/store.ts";
import type { SearchStore } from "../search-store.ts";
import { GraphBuildStore } from "./build-store.ts";
import { GraphBuilder } from "./builder.ts";
import { graphEntityRoutes } from "./entity-routes.ts";
import { type GraphOptions, graphRoutes } from "./routes.ts";
import { GraphStore } from "./store.ts";

interface CreateGraphOptions {
  directory: SessionStore;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  workspaceSessions: SearchStore;
  extractor: Pick<WorkerEntities, "extract" | "close">;
}

/** Graphs: made by the workers, kept and put together by the database. */
export function createGraph(
  { pool, log, cursorKey, stack, queues, tenants }: FeatureContext,
  { extractor, ...access }: CreateGraphOptions,
) {
  const builder = new GraphBuilder({ store: new GraphBuildStore(pool), extractor, tenants, log });
  queues.add(builder);
  stack.push("graph builder", () => {
    extractor.close();
    return builder.close();
  });
  const options: GraphOptions = { ...access, builder, graphs: new GraphStore(pool), cursorKey };
  return { builder, routes: [...graphRoutes(options), ...graphEntityRoutes(options)] };
}
