import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import { markRoutes } from "./routes.ts";
import { MarkStore } from "./store.ts";

/** Moments that people mark in sessions. */
export function createMarks(
  { pool, cursorKey, notifier }: FeatureContext,
  { directory }: { directory: SessionStore },
) {
  const marks = new MarkStore(pool);
  return { marks, routes: markRoutes({ directory, marks, notifier, cursorKey }) };
}
