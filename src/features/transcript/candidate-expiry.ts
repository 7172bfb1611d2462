import { newId } from "../../base/ids.ts";
import type { SessionActors } from "../context.ts";
import type { CandidateStore } from "./candidates-store.ts";

const PAGE = 20;

/**
 * Drops results of redos that nobody chose for too long; their words are erased with that. Returns
 * how many there were.
 */
export async function expireCandidates(
  candidates: Pick<CandidateStore, "expired">,
  actors: SessionActors,
): Promise<number> {
  const expired = await candidates.expired(PAGE);
  for (const { sessionId, attempt } of expired) {
    const command = { type: "ReviewRedo", attempt, choice: "expired", byUserId: "" } as const;
    await actors.ask(sessionId, command, newId());
  }
  return expired.length;
}
