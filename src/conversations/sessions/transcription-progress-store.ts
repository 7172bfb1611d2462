import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../postgres/optional-column.ts";

const ageRow = z.object({ seconds: z.number() });

/** How long the session has been `processing` that has been so for longest, as of the last poll. */
export class OldestProcessing {
  readonly #pool: CommonQueryMethods;
  #seconds = 0;

  constructor(pool: CommonQueryMethods) {
    this.#pool = pool;
  }

  /** 0 when there is none. */
  get seconds(): number {
    return this.#seconds;
  }

  async refresh(): Promise<void> {
    const { seconds } = await this.#pool.one(sql.type(ageRow)`
      select coalesce(extract(epoch from now() - min(stopped_at)), 0)::double precision as seconds
      from sessions where status = 'processing'`);
    this.#seconds = seconds;
  }
}

/** How far a session is read. Samples are at 16 kHz, times Unix milliseconds of the database's clock. */
export interface TranscriptionProgress {
  /** From the beginning of the timeline, samples. */
  readTo: number;
  /** Audio that is stored and was not read yet, milliseconds. */
  lagMs: number;
  now: number;
  /** When its reading began; undefined before. */
  startedAt?: number;
}

const progressRow = z.object({
  readTo: z.number(),
  lagMs: z.number(),
  now: z.number(),
  startedAt: optionalColumn(z.number()),
});

/** Reads how far sessions are. Throws `unavailable` when storage is away. */
export class TranscriptionProgressStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Undefined for an unknown session. Costs the same however long the session is. */
  async of(sessionId: string): Promise<TranscriptionProgress | undefined> {
    const row = await this.#pool.maybeOne(sql.type(progressRow)`
      select greatest(coalesce(r.read_to, 0), coalesce(final.to, 0)) as "readTo",
        session_lag_ms(s.id) as "lagMs", now() as now, j.started_at as "startedAt"
      from sessions s
      left join reading_positions r on r.session_id = s.id
      left join jobs j on j.id = s.job_id
      left join lateral (
        select start_sample + length_samples as to from chunks
        where session_id = s.id and start_sample is not null and status in ('completed', 'failed')
        order by start_sample desc, sequence desc limit 1) final on true
      where s.id = ${sessionId}`);
    return row ?? undefined;
  }
}
