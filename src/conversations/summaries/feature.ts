import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import { actionItemRoutes } from "./action-item-routes.ts";
import { ActionItemStore } from "./action-items-store.ts";
import { type SummaryOptions, summarisationJobRoutes, summaryRoutes } from "./routes.ts";
import { arrangeNotes, SummaryStore } from "./store.ts";
import { templateRoutes } from "./template-routes.ts";
import { TemplateStore } from "./templates-store.ts";

interface CreateSummaryOptions extends Pick<SummaryOptions, "onRequested"> {
  directory: SessionStore;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
}

/** Summaries that are asked for; whoever makes them is told. */
export function createSummaries(
  { pool, cursorKey, notifier }: FeatureContext,
  parts: CreateSummaryOptions,
) {
  const { directory, workspaces } = parts;
  const summaries = new SummaryStore(pool);
  const templates = new TemplateStore(pool);
  return {
    /** The newest ones, as the session's template arranges them. */
    notes: async (sessionId: string) =>
      arrangeNotes(await templates.ofSession(sessionId), await summaries.latest(sessionId)),
    routes: [
      ...summaryRoutes({ ...parts, summaries, templates }),
      ...templateRoutes({ workspaces, templates }),
      ...actionItemRoutes({ directory, notifier, actionItems: new ActionItemStore(pool) }),
      ...summarisationJobRoutes({ directory, summaries, cursorKey }),
    ],
  };
}
