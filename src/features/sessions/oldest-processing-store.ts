import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";

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
