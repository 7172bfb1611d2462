import { Search, SlidersHorizontal } from "lucide-preact";
import type { VNode } from "preact";
import { Link, useLocation } from "wouter-preact";
import { NO_FILTERS, routeOf } from "./search-filters.ts";

/** The way from a list to the search over all sessions: by words, or by what else they are. */
export function SearchBox(): VNode {
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const words = String(new FormData(event.currentTarget).get("words")).trim();
    if (words !== "") navigate(routeOf({ ...NO_FILTERS, words }));
  };
  return (
    <search class="search-box push">
      <form class="row" onSubmit={submit}>
        <input
          class="input"
          name="words"
          type="search"
          placeholder="Search what was said"
          aria-label="Search what was said"
          aria-keyshortcuts="/"
          required
        />
        <button type="submit" class="button icon" aria-label="Search">
          <Search size={17} aria-hidden="true" />
        </button>
        <Link class="button icon" href={routeOf(NO_FILTERS)} aria-label="Filter the sessions">
          <SlidersHorizontal size={17} aria-hidden="true" />
        </Link>
      </form>
    </search>
  );
}
