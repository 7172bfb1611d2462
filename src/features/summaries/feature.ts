import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import { actionItemRoutes } from "./action-item-routes.ts";
import { ActionItemStore } from "./action-items-store.ts";
import { type SummaryOptions, summarisationJobRoutes, summaryRoutes } from "./routes.ts";
import { SummaryStore } from "./store.ts";

interface CreateSummaryOptions extends Pick<SummaryOptions, "onRequested"> {
  directory: SessionStore;
}

/** Summaries that are asked for; whoever makes them is told. */
export function createSummaries(
  { pool, cursorKey, notifier }: FeatureContext,
  parts: CreateSummaryOptions,
) {
  const { directory } = parts;
  const summaries = new SummaryStore(pool);
  return {
    /** The newest of each type. */
    notes: (sessionId: string) => summaries.latest(sessionId),
    routes: [
      ...summaryRoutes({ ...parts, summaries }),
      ...actionItemRoutes({ directory, notifier, actionItems: new ActionItemStore(pool) }),
      ...summarisationJobRoutes({ directory, summaries, cursorKey }),
    ],
  };
}
