import { Type } from "@sinclair/typebox";
import { toTimestamp } from "../base/clock.ts";
import type { Route } from "./route.ts";

/** Number types that are more exact than those of JSON; generated clients adopt them. */
export const int32 = Type.Integer({ format: "int32" });
export const float = Type.Number({ format: "float" });
export const uuid = Type.String({ format: "uuid" });

/** A point in time in requests and answers. */
export const timestamp = Type.String({
  description: "RFC 3339, UTC, milliseconds",
});

/** Unix milliseconds as a timestamp; undefined stays undefined. */
export function optionalTime(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : toTimestamp(milliseconds);
}

/** A route with one of these query parameters is a list or a search. */
const MARKS = ["limit", "cursor", "q"];

/**
 * The query parameters of a list or a search, which refuses all others: with a misspelt filter it
 * would return more than was asked for. Undefined for all other routes, which ignore unknown
 * parameters.
 */
export function onlyParameters(route: Route): readonly string[] | undefined {
  const names = Object.keys(route.query?.properties ?? {});
  return names.some((name) => MARKS.includes(name)) ? names : undefined;
}

/** "list" or "search", for use in sentences. */
export function kindOfListing(names: readonly string[]): string {
  return names.includes("q") ? "search" : "list";
}
