import type { Route } from "./route.ts";

/** What makes a route a list or a search. */
const MARKS = ["limit", "cursor", "q"];

/**
 * The query parameters of a list or a search, which refuses every other: a misspelt filter would
 * show more than was asked for. Undefined for all other routes, which ignore what they do not know.
 */
export function onlyParameters(route: Route): readonly string[] | undefined {
  const names = Object.keys(route.query?.properties ?? {});
  return names.some((name) => MARKS.includes(name)) ? names : undefined;
}

/** "list" or "search", as sentences name it. */
export function kindOfListing(names: readonly string[]): string {
  return names.includes("q") ? "search" : "list";
}
