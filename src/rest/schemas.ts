import { Type } from "@sinclair/typebox";
import { toTimestamp } from "../base/clock.ts";
import type { Route } from "./route.ts";

/** Types that the interface names more exactly than JSON does; generated clients take them over. */
export const int32 = Type.Integer({ format: "int32" });
export const float = Type.Number({ format: "float" });
export const uuid = Type.String({ format: "uuid" });

/** Of an instant in requests and answers. */
export const timestamp = Type.String({
  description: "RFC 3339, UTC, milliseconds",
  examples: ["2026-01-31T09:30:00.000Z"],
});

/** Unix milliseconds as a timestamp; absent stays absent. */
export function optionalTime(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : toTimestamp(milliseconds);
}

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
