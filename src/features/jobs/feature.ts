import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { RedoOptions } from "../transcript/redo.ts";
import { jobRoutes } from "./routes.ts";
import { JobStore } from "./store.ts";

interface CreateJobOptions {
  directory: SessionStore;
  redo: RedoOptions;
}

/** Jobs of every kind, for those who wait for them. */
export function createJobs(
  { pool, cursorKey, actors }: FeatureContext,
  { directory, redo }: CreateJobOptions,
) {
  const allJobs = new JobStore(pool);
  return { routes: jobRoutes({ ...redo, directory, allJobs, actors, cursorKey }) };
}
