import type { VNode } from "preact";
import type { Entity } from "../../api/records.ts";
import { Choice } from "../../parts/fields.tsx";

const TYPES: readonly { readonly id: GraphFilters["type"]; readonly name: string }[] = [
  { id: "", name: "Everything" },
  { id: "person", name: "People" },
  { id: "speaker", name: "Speakers" },
  { id: "organisation", name: "Organisations" },
  { id: "place", name: "Places" },
  { id: "topic", name: "Topics" },
  { id: "date", name: "Dates" },
  { id: "money", name: "Money" },
  { id: "number", name: "Numbers" },
];

export interface GraphFilters {
  readonly type: "" | Entity["type"];
  readonly words: string;
  /** Most mentioned first, so many at most. */
  readonly most: number;
  readonly leastMentions: number;
}

export const NO_GRAPH_FILTERS: GraphFilters = { type: "", words: "", most: 60, leastMentions: 1 };

/** As the service takes them. */
export function graphQuery({ type, words, most, leastMentions }: GraphFilters) {
  return {
    limit: most,
    ...(type === "" ? {} : { type }),
    ...(words === "" ? {} : { q: words }),
    ...(leastMentions > 1 ? { min_mentions: leastMentions } : {}),
  };
}

interface BarProps {
  filters: GraphFilters;
  onChange: (filters: GraphFilters) => void;
}

/** Narrows the graph by name, kind and how often something is spoken of. */
export function GraphFilterBar({ filters, onChange }: BarProps): VNode {
  return (
    <div class="row graph-filters">
      <input
        class="input filter"
        type="search"
        aria-label="Name"
        placeholder="Find a name"
        value={filters.words}
        onChange={({ currentTarget }) =>
          onChange({ ...filters, words: currentTarget.value.trim() })
        }
      />
      <Choice
        class="input filter"
        aria-label="Kind"
        value={filters.type}
        of={TYPES}
        onChoose={(type) => onChange({ ...filters, type })}
      />
      <Choice
        class="input filter"
        aria-label="Mentions"
        value={filters.leastMentions}
        of={[
          { id: 1, name: "Mentioned at all" },
          { id: 2, name: "Twice or more" },
          { id: 5, name: "Five times or more" },
        ]}
        onChoose={(leastMentions) => onChange({ ...filters, leastMentions })}
      />
      <Choice
        class="input filter"
        aria-label="How many"
        value={filters.most}
        of={[25, 60, 150].map((most) => ({ id: most, name: `The ${most} most mentioned` }))}
        onChoose={(most) => onChange({ ...filters, most })}
      />
    </div>
  );
}
