import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { ApiError } from "../../../client/errors.ts";
import { call } from "../../api/client.ts";
import type { Entity, Graph } from "../../api/records.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import {
  type Evidence,
  evidenceIn,
  momentsIn,
  type Spoken,
  spokenIn,
  voiceName,
} from "./evidence.ts";
import { graphQuery } from "./graph-filters.tsx";
import { GraphPage, type GraphSource } from "./graph-page.tsx";

const PAGE = 100;
/** Most pages that are looked through for the mentions of one session. */
const MOST_PAGES = 10;

/** Where an entity is mentioned in one session; undefined for those who see no graph of its workspace. */
async function mentionsOf(
  workspaceId: string,
  entityId: string,
  sessionId: string,
): Promise<{ moments: Spoken[]; isPart: boolean } | undefined> {
  const moments: Spoken[] = [];
  const path = { id: workspaceId, entity_id: entityId };
  let cursor: string | undefined;
  for (let n = 0; n < MOST_PAGES; n += 1) {
    const query = { limit: PAGE, cursor };
    try {
      const page = await call((api) =>
        api.GET("/workspaces/{id}/graph/entities/{entity_id}", { params: { path, query } }),
      );
      const own = page.items.filter((each) => each.session_id === sessionId);
      moments.push(...own.map((each) => spokenIn(each)));
      if (page.next_cursor === null) return { moments, isPart: false };
      cursor = page.next_cursor;
    } catch (error) {
      const isClosed = error instanceof ApiError && [403, 404].includes(error.status);
      if (isClosed) return undefined;
      throw error;
    }
  }
  return { moments, isPart: true };
}

/** What one session speaks of. */
export function View({ params }: { params: { id?: string } }): VNode {
  const { id = "" } = params;
  const { state, reload } = useResource(
    () =>
      call((api) => api.GET("/sessions/{session_id}", { params: { path: { session_id: id } } })),
    [id],
  );
  const session = state.kind === "ready" ? state.value : undefined;
  const source = useMemo(
    () => session && sourceOf(id, session.workspace_id, session.title),
    [id, session],
  );
  if (source !== undefined) return <GraphPage key={id} source={source} />;
  return (
    <ViewFrame title="Graph">
      <Awaited of={{ state, reload }} what="the graph" lines={7} />
    </ViewFrame>
  );
}

function sourceOf(sessionId: string, workspaceId: string, title: string): GraphSource {
  const path = { session_id: sessionId };
  return {
    title: `What “${title || "Untitled conversation"}” speaks of`,
    back: { href: `/sessions/${sessionId}`, label: "The words" },
    place: path,
    load: (filters) =>
      call((api) =>
        api.GET("/sessions/{session_id}/graph", { params: { path, query: graphQuery(filters) } }),
      ),
    evidence: (entity, graph) => evidence(sessionId, workspaceId, entity, graph),
  };
}

async function evidence(
  sessionId: string,
  workspaceId: string,
  entity: Entity,
  graph: Graph,
): Promise<Evidence> {
  const { relations, neighbours } = evidenceIn(graph, entity.id);
  const found = await mentionsOf(workspaceId, entity.id, sessionId);
  if (found !== undefined) return { ...found, relations, neighbours };
  // Those with whom the session alone is shared see no graph of the workspace.
  const moments = await Promise.all(
    momentsIn(relations).map((moment) => textOf(sessionId, moment.segment_id)),
  );
  const isPart = moments.length < entity.mention_count;
  return { moments: moments.flatMap((each) => each ?? []), isPart, relations, neighbours };
}

async function textOf(sessionId: string, segmentId: string): Promise<Spoken | undefined> {
  const path = { session_id: sessionId, segment_id: segmentId };
  const segment = await call((api) =>
    api.GET("/sessions/{session_id}/segments/{segment_id}", { params: { path } }),
  );
  const { start_ms, text, speaker_label: label = "UU" } = segment;
  const speaker = voiceName(label);
  return { session_id: sessionId, segment_id: segmentId, start_ms, text, speaker };
}
