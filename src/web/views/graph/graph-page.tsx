import { ArrowLeft, RotateCw } from "lucide-preact";
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { ApiError } from "../../../client/errors.ts";
import { account } from "../../api/account.ts";
import { elevations } from "../../api/elevation.ts";
import type { ElevationScope } from "../../api/elevation-record.ts";
import type { Entity, Graph, GraphPath } from "../../api/records.ts";
import { ElevationForm } from "../../parts/elevation-form.tsx";
import { useRefreshing } from "../../parts/refreshing.ts";
import { useResource } from "../../parts/resource.ts";
import { Empty, Failure, Loading, NothingFits } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import type { Evidence } from "./evidence.ts";
import { EvidencePane } from "./evidence-pane.tsx";
import { GraphDrawing } from "./graph-drawing.tsx";
import { GraphFilterBar, type GraphFilters, NO_GRAPH_FILTERS } from "./graph-filters.tsx";
import { entityName } from "./graph-layout.ts";
import "./graph.css";

const STALE_MS = 5_000;

export interface GraphSource {
  readonly title: string;
  readonly back: { readonly href: string; readonly label: string };
  readonly place: ElevationScope;
  readonly load: (filters: GraphFilters) => Promise<Graph>;
  /** Where an entity was mentioned. */
  readonly evidence: (entity: Entity, graph: Graph) => Promise<Evidence>;
  /** Over what two entities hang together, where the service can tell. */
  readonly path?: (from: string, to: string) => Promise<GraphPath>;
}

/** What is spoken of, how it hangs together, and where it was said. */
export function GraphPage({ source }: { source: GraphSource }): VNode {
  const [filters, setFilters] = useState(NO_GRAPH_FILTERS);
  const { state, reload } = useResource(
    () => source.load(filters),
    // What an elevation opened is asked for anew, and so hidden, when it ends.
    [source, filters, elevations.value],
  );
  const graph = state.kind === "ready" ? state.value : undefined;
  useRefreshing(reload, graph?.stale ? STALE_MS : undefined);
  return (
    <ViewFrame
      title={source.title}
      head={
        <Link class="button push" href={source.back.href}>
          <ArrowLeft size={16} aria-hidden="true" /> {source.back.label}
        </Link>
      }
    >
      <GraphFilterBar filters={filters} onChange={setFilters} />
      {graph?.stale && <StaleNotice graph={graph} onReload={reload} />}
      {graph?.unread_languages && <UnreadNotice languages={graph.unread_languages} />}
      {state.kind === "loading" && <Loading what="the graph" lines={7} />}
      {state.kind === "failed" && (
        <Hidden error={state.error} place={source.place} reload={reload} />
      )}
      {graph?.entities.length === 0 &&
        (filters === NO_GRAPH_FILTERS ? (
          <NothingYet />
        ) : (
          <NothingFits title="Nothing fits" onAll={() => setFilters(NO_GRAPH_FILTERS)} />
        ))}
      {graph && graph.entities.length > 0 && <Shown source={source} graph={graph} />}
    </ViewFrame>
  );
}

function UnreadNotice({ languages }: { languages: readonly string[] }): VNode {
  return (
    <p class="notice graph-notice" role="status">
      Names and topics are found in English only: of what was said in {languages.join(", ")}, the
      speakers are shown alone.
    </p>
  );
}

function StaleNotice({ graph, onReload }: { graph: Graph; onReload: () => void }): VNode {
  const { pending_sessions: pending } = graph;
  return (
    <p class="notice graph-notice" role="status">
      <span>
        {pending > 0
          ? `${pending} ${pending === 1 ? "conversation is" : "conversations are"} not in it yet. `
          : "Words have changed since it was made. "}
        It is looked at again by itself.
      </span>
      <button type="button" class="button quiet icon" aria-label="Look now" onClick={onReload}>
        <RotateCw size={16} aria-hidden="true" />
      </button>
    </p>
  );
}

interface HiddenProps {
  error: unknown;
  place: ElevationScope;
  reload: () => void;
}

function Hidden({ error, place, reload }: HiddenProps): VNode {
  const who = account.value;
  const isGated = error instanceof ApiError && error.code === "elevation_required";
  if (!isGated || who?.kind !== "user") return <Failure error={error} retry={reload} />;
  return (
    <section class="card stack graph-hidden" aria-labelledby="hidden-graph">
      <h2 id="hidden-graph">What was spoken of is hidden</h2>
      <p class="soft">
        You are not a part of it. With a reason, which stands in the audit log with every read, it
        is open to you for a while.
      </p>
      <ElevationForm place={place} onOpen={reload} />
    </section>
  );
}

function NothingYet(): VNode {
  const record = (
    <Link class="button" href="/record">
      Record something
    </Link>
  );
  return (
    <Empty title="Nothing yet" next={record}>
      <p>Names of people, places, organisations and topics appear here once they were spoken of.</p>
    </Empty>
  );
}

function Shown({ source, graph }: { source: GraphSource; graph: Graph }): VNode {
  const [chosen, choose] = useState<Entity | undefined>();
  const list = useRef<HTMLDivElement>(null);
  const chooseId = (id: string) => choose(graph.entities.find((each) => each.id === id) ?? chosen);
  const back = () => {
    const id = chosen?.id;
    choose(undefined);
    // The list is drawn first; then the name that one came from has the focus again.
    queueMicrotask(() => {
      requestAnimationFrame(() =>
        list.current?.querySelector<HTMLElement>(`[data-entity="${id}"]`)?.focus(),
      );
    });
  };
  return (
    <div class="graph-panes">
      <div class="card graph-picture">
        <GraphDrawing graph={graph} chosen={chosen?.id} onChoose={chooseId} />
      </div>
      <div class="graph-side" ref={list}>
        {chosen === undefined ? (
          <EntityList graph={graph} onChoose={chooseId} />
        ) : (
          <EvidencePane
            key={chosen.id}
            entity={chosen}
            graph={graph}
            load={() => source.evidence(chosen, graph)}
            findPath={source.path}
            onChoose={choose}
            onBack={back}
          />
        )}
      </div>
    </div>
  );
}

interface ListProps {
  graph: Graph;
  onChoose: (id: string) => void;
}

/** Everything that the drawing shows, the most mentioned first. */
function EntityList({ graph, onChoose }: ListProps): VNode {
  const { entities, total_entities: total } = graph;
  const sorted = entities.toSorted((a, b) => b.mention_count - a.mention_count);
  return (
    <section class="stack" aria-labelledby="entities">
      <h2 id="entities">Spoken of</h2>
      <ul class="entity-list">
        {sorted.map(({ id, name, type, mention_count: mentions }) => (
          <li key={id}>
            <button
              type="button"
              class="entity"
              data-entity={id}
              data-type={type}
              onClick={() => onChoose(id)}
            >
              <span class="entity-dot" aria-hidden="true" />
              <span class="entity-name">{entityName({ name, type })}</span>
              <span class="soft small">{`${type}, ${mentions}`}</span>
            </button>
          </li>
        ))}
      </ul>
      {total > entities.length && (
        <p class="soft small">{`${total - entities.length} more are spoken of less.`}</p>
      )}
    </section>
  );
}
