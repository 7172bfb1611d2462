import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import { concernRoutes } from "./routes.ts";
import { ConcernStore } from "./store.ts";
import { triageRoutes } from "./triage-routes.ts";

/** What somebody finds wrong with a session, and what moderators make of it. */
export function createConcerns(
  { pool, cursorKey, notifier, actors }: FeatureContext,
  { directory }: { directory: SessionStore },
) {
  const concerns = new ConcernStore(pool);
  return {
    routes: [
      ...concernRoutes({ directory, concerns, notifier, cursorKey }),
      ...triageRoutes({ directory, concerns, actors, cursorKey }),
    ],
  };
}
