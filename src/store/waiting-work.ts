import { type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";
import { ReadBatch } from "./read-batch.ts";
import { guarded } from "./store-error.ts";

const waitingRow = z.object({
  commands: z.boolean(),
  parked: z.boolean(),
  jobs: z.boolean(),
  deliveries: z.boolean(),
  silence: z.boolean(),
  recording: z.boolean(),
  pieces: z.boolean(),
  files: z.boolean(),
});

/**
 * Of what the record holds something for: commands to sessions, those put aside, batch jobs and
 * webhook messages that are due, audio to be silenced, sessions that record, streamed audio that is
 * no chunk yet, files of deleted sessions.
 */
export type WaitingWork = z.output<typeof waitingRow>;

/** Port: one look at everything that may wait. Throws `unavailable`. */
export interface WorkLook {
  read(): Promise<WaitingWork>;
}

/**
 * Whoever works things off in the background asks here first, and those who ask in the same turn
 * share the answer: an installation at rest is looked at with one statement, however many look. It
 * sees everything that was committed before it was asked for.
 */
export class PostgresWaitingWork implements WorkLook {
  readonly #looks: ReadBatch<"", WaitingWork>;

  constructor(pool: DatabasePool) {
    this.#looks = new ReadBatch(async (keys) => {
      const found = await guarded(() => pool.one(sql.type(waitingRow)`select ${COLUMNS}`));
      return keys.map(() => found);
    });
  }

  async read(): Promise<WaitingWork> {
    const found = await this.#looks.get("");
    if (found === undefined) throw new AppError("internal", "The look at the record saw nothing.");
    return found;
  }
}

/** Without a look, what is asked is asked. */
export async function isWaiting(
  look: WorkLook | undefined,
  ...kinds: readonly (keyof WaitingWork)[]
): Promise<boolean> {
  if (look === undefined) return true;
  const found = await look.read();
  return kinds.some((kind) => found[kind]);
}

/** The first row by an index that holds nothing else, so that it costs the same however much there is. */
function any(rows: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`coalesce((select true ${rows} limit 1), false)`;
}

const COLUMNS = sql.fragment`
  ${any(sql.fragment`
    from outbox where parked_at is null order by partition_of(session_id)`)} as commands,
  ${any(sql.fragment`from outbox where parked_at is not null order by parked_at`)} as parked,
  ${any(sql.fragment`
    from jobs
    where kind <> 'transcription' and status in ('queued', 'running')
      and case status when 'queued' then due_at else claimed_until end <= now()`)} as jobs,
  ${any(sql.fragment`
    from webhooks as w
    where enabled and free_at <= now() and exists (
      select from webhook_deliveries as d
      where d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at <= now())`)}
    as deliveries,
  ${any(sql.fragment`
    from chunks where silence_wanted > silence_done order by session_id, sequence`)} as silence,
  ${any(sql.fragment`
    from sessions where status = 'recording' order by started_at`)} as recording,
  ${any(sql.fragment`from audio_pieces order by created_at`)} as pieces,
  ${any(sql.fragment`
    from deletion_receipts where audio_erased_at is null order by deleted_at`)} as files`;
