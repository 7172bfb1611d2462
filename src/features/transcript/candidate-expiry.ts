import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { WorkList } from "../../base/work/work-list.ts";
import type { SessionActors } from "../context.ts";
import type { CandidateStore, ExpiredCandidate } from "./candidates-store.ts";

const PAGE = 20;

interface ExpiredCandidatesOptions {
  candidates: Pick<CandidateStore, "expired">;
  actors: SessionActors;
  clock: Pick<Clock, "monotonic">;
  log: Log;
}

/** The work of dropping results of redos that nobody chose for too long, with their words. */
export function expiredCandidates(options: ExpiredCandidatesOptions): WorkList<ExpiredCandidate> {
  const { candidates, actors, clock, log } = options;
  return new WorkList({
    page: PAGE,
    read: (limit, except) => candidates.expired(limit, except),
    keyOf: ({ sessionId }) => sessionId,
    work: ({ sessionId, attempt }) => {
      const command = { type: "ReviewRedo", attempt, choice: "expired", byUserId: "" } as const;
      return actors.ask(sessionId, command, newId());
    },
    clock,
    log,
    trouble: "an old result of a redo could not be dropped yet",
    field: "session_id",
  });
}
