import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import { AccountErasures } from "./account-erasure.ts";
import { type AccountEnding, AccountErasureStore } from "./account-erasure-store.ts";
import {
  SessionErasure,
  type SessionErasureOptions,
  sessionDeleteRoutes,
} from "./session-erasure.ts";
import { type DeletionParts, PostgresSessionDeletion } from "./session-erasure-store.ts";

export interface CreateErasureOptions
  extends Pick<SessionErasureOptions, "eraseAudio" | "ledger" | "publish" | "wake"> {
  directory: SessionStore;
  /** What features do when an account is erased. */
  accountEndings: readonly AccountEnding[];
  /** What features and the journal do when a session is deleted. */
  deletionParts: DeletionParts;
}

/** What takes sessions and people out of the service. */
export function createErasure(
  { pool, clock, log, revocations }: FeatureContext,
  { directory, accountEndings, deletionParts, ...effects }: CreateErasureOptions,
) {
  const records = new PostgresSessionDeletion(pool, deletionParts);
  const sessions = new SessionErasure({ ...effects, records, revocations, clock, log });
  const store = new AccountErasureStore(pool, accountEndings);
  const { ledger } = effects;
  const people = { accounts: store, sessions, ledger, revocations, clock, log };
  const accounts = new AccountErasures(people);
  return {
    sessions,
    accounts,
    routes: sessionDeleteRoutes({ directory, eraser: sessions }),
  };
}
