import { Type } from "@sinclair/typebox";
import { toTimestamp } from "../base/clock.ts";

/** Of an instant in requests and answers. */
export const timestamp = Type.String({
  description: "RFC 3339, UTC, milliseconds",
  examples: ["2026-01-31T09:30:00.000Z"],
});

/** Unix milliseconds as a timestamp; absent stays absent. */
export function optionalTime(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : toTimestamp(milliseconds);
}
