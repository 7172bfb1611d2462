import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import { AccountErasures } from "./account-erasure.ts";
import { AccountErasureStore } from "./account-erasure-store.ts";
import {
  SessionErasure,
  type SessionErasureOptions,
  sessionDeleteRoutes,
} from "./session-erasure.ts";
import { PostgresSessionDeletion } from "./session-erasure-store.ts";

interface CreateErasureOptions
  extends Pick<SessionErasureOptions, "eraseAudio" | "publish" | "wake"> {
  directory: SessionStore;
}

/** What takes sessions and people out of the service. */
export function createErasure(
  { pool, clock, log, revocations }: FeatureContext,
  { directory, ...effects }: CreateErasureOptions,
) {
  const records = new PostgresSessionDeletion(pool);
  const sessions = new SessionErasure({ ...effects, records, revocations, log });
  const store = new AccountErasureStore(pool);
  const accounts = new AccountErasures({ accounts: store, sessions, revocations, clock });
  return {
    sessions,
    accounts,
    routes: sessionDeleteRoutes({ directory, eraser: sessions }),
  };
}
