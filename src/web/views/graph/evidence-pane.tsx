import { ArrowLeft } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link } from "wouter-preact";
import { clockTime } from "../../../wire/clock-time.ts";
import type { Entity, Graph, GraphPath, Relation } from "../../api/records.ts";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import type { Evidence } from "./evidence.ts";
import { entityName } from "./graph-layout.ts";
import { PathFinder } from "./path-finder.tsx";

interface PaneProps {
  entity: Entity;
  graph: Graph;
  load: () => Promise<Evidence>;
  findPath: ((from: string, to: string) => Promise<GraphPath>) | undefined;
  onChoose: (entity: Entity) => void;
  onBack: () => void;
}

/** Where an entity was spoken of; each moment leads there. */
export function EvidencePane(props: PaneProps): VNode {
  const { entity, graph, load, findPath, onChoose, onBack } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  const { state, reload } = useResource(load, [entity.id]);
  useEffect(() => heading.current?.focus(), []);
  const { type, aliases, mention_count: mentions, session_count: sessions } = entity;
  return (
    <section class="stack" aria-labelledby="entity">
      <div>
        <button type="button" class="button quiet graph-back" onClick={onBack}>
          <ArrowLeft size={16} aria-hidden="true" /> All names
        </button>
      </div>
      <div class="row entity-head" data-type={type}>
        <span class="entity-dot" aria-hidden="true" />
        <h2 id="entity" ref={heading} tabIndex={-1}>
          {entityName(entity)}
        </h2>
        <span class="chip">{type}</span>
      </div>
      <p class="soft small">
        {`${mentions} ${mentions === 1 ? "mention" : "mentions"}`}
        {sessions > 1 && ` in ${sessions} conversations`}
        {aliases.length > 0 && `; also ${aliases.join(", ")}`}
      </p>
      <Awaited of={{ state, reload }} what="where it was said" lines={4} />
      {state.kind === "ready" && (
        <>
          <Moments evidence={state.value} />
          <Neighbours entity={entity} evidence={state.value} onChoose={onChoose} />
          {findPath && <PathFinder from={entity} graph={graph} find={findPath} />}
        </>
      )}
    </section>
  );
}

function Moments({ evidence }: { evidence: Evidence }): VNode {
  const { moments, isPart } = evidence;
  return (
    <>
      <h3>Where it was said</h3>
      {moments.length === 0 && <p class="soft small">No moment of it is known any more.</p>}
      <ul class="spoken-list">
        {moments.map(({ session_id: session, segment_id, start_ms: ms, at, speaker, text }) => (
          <li key={`${segment_id} ${ms}`}>
            <Link class="spoken" href={`/sessions/${session}/${ms}`}>
              <span class="spoken-at">
                {at === undefined ? clockTime(ms / 1_000) : momentOf(at)}
                {speaker !== "" && ` ${speaker}`}
              </span>
              <span>{text}</span>
            </Link>
          </li>
        ))}
      </ul>
      {isPart && <p class="soft small">These are the first ones; there are more.</p>}
    </>
  );
}

interface NeighboursProps {
  entity: Entity;
  evidence: Evidence;
  onChoose: (entity: Entity) => void;
}

function Neighbours({ entity, evidence, onChoose }: NeighboursProps): VNode | null {
  const { relations, neighbours } = evidence;
  const known = new Map(neighbours.map((each) => [each.id, each]));
  const shown = relations.flatMap((relation) => {
    const isSource = relation.source_id === entity.id;
    const other = known.get(isSource ? relation.target_id : relation.source_id);
    return other === undefined ? [] : [{ relation, isSource, other }];
  });
  if (shown.length === 0) return null;
  return (
    <>
      <h3>Hangs together with</h3>
      <ul class="entity-list">
        {shown.map(({ relation, isSource, other }) => (
          <li key={`${relation.kind} ${relation.label} ${isSource} ${other.id}`}>
            <button
              type="button"
              class="entity"
              data-type={other.type}
              onClick={() => onChoose(other)}
            >
              <span class="entity-dot" aria-hidden="true" />
              <span class="entity-name">{entityName(other)}</span>
              <span class="soft small">{tieIn(relation, isSource)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** How two entities hang together, seen from the one that is open. */
function tieIn({ kind, label = "" }: Relation, isSource: boolean): string {
  if (kind === "co_occurrence") return "named together";
  if (kind === "talks_about") return isSource ? "spoken of by this voice" : "speaks of it";
  return isSource ? `${label} →` : `→ ${label}`;
}
