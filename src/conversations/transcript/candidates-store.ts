import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { WorkList } from "../../base/work/work-list.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { SessionActors } from "../context.ts";
import { assertShort } from "./segments-store.ts";

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

/** Days for which the result of a redo waits for a choice. */
const CANDIDATE_DAYS = 7;

const candidateRow = z.object({
  jobId: z.string(),
  attempt: z.number(),
  status: z.enum(["reading", "waiting", "accepted", "discarded", "outdated", "expired"]),
  engine: optionalColumn(z.string()),
  detectedLanguage: optionalColumn(z.string()),
  at: z.number(),
  expiresAt: z.number(),
  edits: z.number(),
});

/** The newest redo for review of a session. Times are Unix milliseconds. */
type RedoCandidate = z.output<typeof candidateRow>;

const textsRow = z.object({ json: z.string().nullable() });

const expiredRow = z.object({ sessionId: z.string(), attempt: z.number() });

/** A result that waited too long for a choice. */
type ExpiredCandidate = z.output<typeof expiredRow>;

/** Results of redos that wait for a choice. Throws `unavailable` when storage is away. */
export class CandidateStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** `edits` counts the edited segments that accepting would replace. */
  async find(sessionId: string): Promise<RedoCandidate | undefined> {
    const row = await this.#pool.maybeOne(sql.type(candidateRow)`
      select c.job_id as "jobId", c.attempt, c.status, c.engine,
        c.detected_language as "detectedLanguage", c.at,
        c.at + make_interval(days => ${CANDIDATE_DAYS}) as "expiresAt",
        (select count(*)::int from segments s
          where s.session_id = c.session_id and s.revision > 1 and s.id <> all(c.kept)) as edits
      from redo_candidates c
      where c.session_id = ${sessionId}`);
    return row ?? undefined;
  }

  /**
   * The words of both texts in order of time, of one moment, as JSON text for `comparedWords` in a
   * thread; undefined when none waits by now. Throws `payload_too_large` like `SegmentStore.asJson`.
   */
  async texts(sessionId: string, attempt: number): Promise<string | undefined> {
    await assertShort(this.#pool, sessionId);
    const { json } = await this.#pool.one(sql.type(textsRow)`
      with waiting as (
        select kept from redo_candidates
        where session_id = ${sessionId} and attempt = ${attempt} and status = 'waiting'
      ), both_texts as (
        select false as "isCandidate", s.id = any(w.kept) as "isKept", s.label, s.words,
          s.start_sample
        from segments s cross join waiting w where s.session_id = ${sessionId}
        union all
        select true, false, c.label, c.words, c.start_sample
        from candidate_segments c cross join waiting
        where c.session_id = ${sessionId} and c.attempt = ${attempt}
      )
      select json_agg(json_build_object('isCandidate', "isCandidate", 'isKept', "isKept",
        'label', label, 'words', words) order by start_sample)::text as json
      from both_texts`);
    return json ?? undefined;
  }

  /** Results that waited too long, oldest first, but those of the sessions `except`. */
  async expired(
    limit: number,
    except: readonly string[] = [],
  ): Promise<readonly ExpiredCandidate[]> {
    return this.#pool.any(sql.type(expiredRow)`
      select session_id as "sessionId", attempt from redo_candidates
      where status = 'waiting' and at < now() - make_interval(days => ${CANDIDATE_DAYS})
        and session_id <> all(${sql.array(except, "uuid")})
      order by at limit ${limit}`);
  }
}
