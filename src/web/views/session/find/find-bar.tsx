import { ChevronDown, ChevronUp, X } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { WordSearch } from "../model/word-search.ts";
import "./find.css";

/** The field to find words in the session, while it is open. */
export function FindBar({ search }: { search: WordSearch }): VNode | null {
  return search.isOpen.value ? <Open search={search} /> : null;
}

function Open({ search }: { search: WordSearch }): VNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    field.current?.select();
    field.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") search.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") search.close();
    else return;
    event.preventDefault();
  };
  const isEmpty = search.hits.value.length === 0;
  return (
    <search class="find-bar row">
      <input
        ref={field}
        type="search"
        class="input"
        aria-label="Find in this session"
        placeholder="Find in this session"
        value={search.query.value}
        onInput={({ currentTarget }) => search.search(currentTarget.value)}
        onKeyDown={press}
      />
      <span class="small soft" role="status">
        {countOf(search)}
      </span>
      <button
        type="button"
        class="button quiet icon"
        aria-label="Previous hit"
        disabled={isEmpty}
        onClick={() => search.step(-1)}
      >
        <ChevronUp size={18} aria-hidden="true" />
      </button>
      <button
        type="button"
        class="button quiet icon"
        aria-label="Next hit"
        disabled={isEmpty}
        onClick={() => search.step(1)}
      >
        <ChevronDown size={18} aria-hidden="true" />
      </button>
      <button
        type="button"
        class="button quiet icon"
        aria-label="Close"
        onClick={() => search.close()}
      >
        <X size={18} aria-hidden="true" />
      </button>
    </search>
  );
}

function countOf({ query, hits, place }: WordSearch): string {
  if (query.value.trim() === "") return "";
  const { length } = hits.value;
  if (length === 0) return "Not found";
  return place.value < 0 ? `${length}` : `${place.value + 1} of ${length}`;
}
