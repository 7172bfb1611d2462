import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Entity, Graph, GraphPath } from "../../api/records.ts";
import { Alert } from "../../parts/alert.tsx";
import { useDeed } from "../../parts/deed.ts";
import { Options } from "../../parts/fields.tsx";
import { momentOf } from "../../parts/times.ts";
import { voiceName } from "./evidence.ts";
import { entityName } from "./graph-layout.ts";

interface FinderProps {
  from: Entity;
  graph: Graph;
  find: (from: string, to: string) => Promise<GraphPath>;
}

/** Over what two names hang together, with what was said where they meet. */
export function PathFinder({ from, graph, find }: FinderProps): VNode | null {
  const { isBusy, error, run } = useDeed();
  const [path, setPath] = useState<GraphPath | undefined>();
  const others = graph.entities.filter(({ id }) => id !== from.id);
  if (others.length === 0) return null;
  const sorted = others.toSorted((a, b) => entityName(a).localeCompare(entityName(b)));
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const to = String(new FormData(event.currentTarget).get("to"));
        void run(async () => setPath(await find(from.id, to)));
      }}
    >
      <h3>How is it connected?</h3>
      <div class="row graph-path-to">
        <select class="input" name="to" aria-label="Connected with">
          <Options of={sorted.map((each) => ({ id: each.id, name: entityName(each) }))} />
        </select>
        <button type="submit" class="button" aria-disabled={isBusy}>
          Show
        </button>
      </div>
      <Alert text={error} />
      <div role="status">{path && <Steps path={path} />}</div>
    </form>
  );
}

function Steps({ path }: { path: GraphPath }): VNode {
  const { entities, steps } = path;
  if (steps.length === 0) return <p class="soft small">Nothing connects the two.</p>;
  const names = new Map(entities.map((each) => [each.id, entityName(each)]));
  return (
    <ol class="graph-steps">
      {steps.map(({ source_id: from, target_id: to, segments: [said] }) => (
        <li key={`${from} ${to}`}>
          <strong>{`${names.get(from) ?? ""} – ${names.get(to) ?? ""}`}</strong>
          {said && (
            <Link class="spoken" href={`/sessions/${said.session_id}/${said.start_ms}`}>
              <span class="spoken-at">
                {`${momentOf(said.at)} ${said.speaker_name ?? voiceName(said.speaker_label)}`}
              </span>
              <span>{said.text}</span>
            </Link>
          )}
        </li>
      ))}
    </ol>
  );
}
