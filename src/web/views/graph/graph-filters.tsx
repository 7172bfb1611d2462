import type { VNode } from "preact";
import type { Entity } from "../../api/records.ts";

const TYPES: readonly { readonly id: Entity["type"]; readonly label: string }[] = [
  { id: "person", label: "People" },
  { id: "speaker", label: "Speakers" },
  { id: "organisation", label: "Organisations" },
  { id: "place", label: "Places" },
  { id: "topic", label: "Topics" },
  { id: "date", label: "Dates" },
  { id: "money", label: "Money" },
  { id: "number", label: "Numbers" },
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
      <select
        class="input filter"
        aria-label="Kind"
        value={filters.type}
        onChange={({ currentTarget }) => {
          const found = TYPES.find(({ id }) => id === currentTarget.value);
          onChange({ ...filters, type: found?.id ?? "" });
        }}
      >
        <option value="">Everything</option>
        {TYPES.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
      <select
        class="input filter"
        aria-label="Mentions"
        value={filters.leastMentions}
        onChange={({ currentTarget }) =>
          onChange({ ...filters, leastMentions: Number(currentTarget.value) })
        }
      >
        <option value="1">Mentioned at all</option>
        <option value="2">Twice or more</option>
        <option value="5">Five times or more</option>
      </select>
      <select
        class="input filter"
        aria-label="How many"
        value={filters.most}
        onChange={({ currentTarget }) =>
          onChange({ ...filters, most: Number(currentTarget.value) })
        }
      >
        <option value="25">The 25 most mentioned</option>
        <option value="60">The 60 most mentioned</option>
        <option value="150">The 150 most mentioned</option>
      </select>
    </div>
  );
}
