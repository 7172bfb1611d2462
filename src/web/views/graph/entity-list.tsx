import type { VNode } from "preact";
import type { Graph } from "../../api/records.ts";
import { entityName } from "./graph-layout.ts";

interface ListProps {
  graph: Graph;
  onChoose: (id: string) => void;
}

/** Everything that the drawing shows, the most mentioned first. */
export function EntityList({ graph, onChoose }: ListProps): VNode {
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
