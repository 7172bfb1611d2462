import { Search, X } from "lucide-preact";
import type { VNode } from "preact";
import type { Device, Workspace } from "../../api/records.ts";
import { Choice, TextField } from "../../parts/fields.tsx";
import { type FilterChip, type SearchFilters, STATUSES } from "./search-filters.ts";

interface FormProps {
  filters: SearchFilters;
  workspaces: readonly Workspace[];
  devices: readonly Device[];
  /** Tags that are known from sessions that were shown. */
  tags: readonly string[];
  onChange: (filters: SearchFilters) => void;
}

/** Words and filters of a search; each change shows at once. */
export function FilterForm(props: FormProps): VNode {
  const { filters, onChange } = props;
  return (
    <search class="stack">
      <form
        class="row search-form"
        onSubmit={(event) => {
          event.preventDefault();
          const words = String(new FormData(event.currentTarget).get("words")).trim();
          onChange({ ...filters, words });
        }}
      >
        <input
          key={filters.words}
          class="input"
          name="words"
          type="search"
          placeholder="Words that were said"
          aria-label="Search what was said"
          aria-keyshortcuts="/"
          maxLength={500}
          defaultValue={filters.words}
        />
        <button type="submit" class="button primary">
          <Search size={17} aria-hidden="true" /> Search
        </button>
      </form>
      <fieldset class="search-filters">
        <legend class="soft small">Filters</legend>
        <WhoAndWhen {...props} />
        <WhatTheyAre {...props} />
      </fieldset>
    </search>
  );
}

function WhoAndWhen({ filters, tags, onChange }: FormProps): VNode {
  const { speaker, from, to } = filters;
  return (
    <>
      <TextField
        label="Speaker"
        value={speaker}
        maxLength={200}
        placeholder="A name, or its beginning"
        onChange={({ currentTarget: { value } }) => onChange({ ...filters, speaker: value.trim() })}
      />
      <TextField
        label="From"
        type="date"
        value={from}
        max={to === "" ? undefined : to}
        onChange={({ currentTarget: { value } }) => onChange({ ...filters, from: value })}
      />
      <TextField
        label="Until"
        type="date"
        value={to}
        min={from === "" ? undefined : from}
        onChange={({ currentTarget: { value } }) => onChange({ ...filters, to: value })}
      />
      <label class="field">
        <span>Tag</span>
        <input
          class="input"
          list="known-tags"
          maxLength={64}
          placeholder="One at a time"
          onChange={({ currentTarget }) => {
            const tag = currentTarget.value.trim();
            currentTarget.value = "";
            if (tag === "" || filters.tags.includes(tag)) return;
            onChange({ ...filters, tags: [...filters.tags, tag] });
          }}
        />
        <datalist id="known-tags">
          {tags.map((tag) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
      </label>
    </>
  );
}

function WhatTheyAre({ filters, workspaces, devices, onChange }: FormProps): VNode {
  return (
    <>
      <Choice
        label="State"
        value={filters.status}
        of={STATUSES}
        onChoose={(status) => onChange({ ...filters, status })}
      />
      {devices.length > 0 && (
        <Choice
          label="Device"
          value={filters.deviceId}
          of={[{ id: "", name: "Any device" }, ...devices]}
          onChoose={(deviceId) => onChange({ ...filters, deviceId })}
        />
      )}
      {workspaces.length > 0 && (
        <Choice
          label="Workspace"
          value={filters.workspaceId}
          of={[{ id: "", name: "All workspaces" }, ...workspaces]}
          onChoose={(workspaceId) => onChange({ ...filters, workspaceId })}
        />
      )}
    </>
  );
}

interface ChipsProps {
  chips: readonly FilterChip[];
  onChange: (filters: SearchFilters) => void;
  onClear: () => void;
}

/** What is asked for; each is taken away by a press. */
export function FilterChips({ chips, onChange, onClear }: ChipsProps): VNode | null {
  if (chips.length === 0) return null;
  return (
    <ul class="row search-chips" aria-label="Filters">
      {chips.map(({ label, rest }) => (
        <li key={label}>
          <button
            type="button"
            class="button small"
            aria-label={`Remove the filter ${label}`}
            onClick={() => onChange(rest)}
          >
            {label} <X size={14} aria-hidden="true" />
          </button>
        </li>
      ))}
      <li>
        <button type="button" class="button quiet small" onClick={onClear}>
          Clear all
        </button>
      </li>
    </ul>
  );
}
