import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { spokenIn } from "./evidence.ts";
import { graphQuery } from "./graph-filters.tsx";
import { GraphPage, type GraphSource } from "./graph-page.tsx";

const MOMENTS = 50;

/** What all the sessions of a workspace speak of, as far as the person may read them. */
export function View({ params }: { params: { id?: string } }): VNode {
  const { id = "" } = params;
  const { state, reload } = useResource(
    () => call((api) => api.GET("/workspaces/{id}", { params: { path: { id } } })),
    [id],
  );
  const workspace = state.kind === "ready" ? state.value : undefined;
  const source = useMemo(() => workspace && sourceOf(id, workspace.name), [id, workspace]);
  if (source !== undefined) return <GraphPage key={id} source={source} />;
  return (
    <ViewFrame title="Graph">
      <Awaited of={{ state, reload }} what="the graph" lines={7} />
    </ViewFrame>
  );
}

function sourceOf(id: string, name: string): GraphSource {
  return {
    title: `What “${name}” speaks of`,
    back: { href: `/workspaces/${id}`, label: "The workspace" },
    place: { workspace_id: id },
    load: (filters) =>
      call((api) =>
        api.GET("/workspaces/{id}/graph", {
          params: { path: { id }, query: graphQuery(filters) },
        }),
      ),
    path: (from, to) =>
      call((api) =>
        api.GET("/workspaces/{id}/graph/path", { params: { path: { id }, query: { from, to } } }),
      ),
    evidence: async (entity) => {
      const path = { id, entity_id: entity.id };
      const found = await call((api) =>
        api.GET("/workspaces/{id}/graph/entities/{entity_id}", {
          params: { path, query: { limit: MOMENTS } },
        }),
      );
      return {
        moments: found.items.map((each) => ({ ...spokenIn(each), at: each.at })),
        relations: found.relations,
        neighbours: found.neighbours,
        isPart: found.next_cursor !== null,
      };
    },
  };
}
