import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";
import { LookupBatcher } from "../base/lookup-batcher.ts";

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

/**
 * Whoever works things off in the background asks here first, and those who ask in the same turn
 * share the answer: an installation at rest is looked at with one statement, however many look. It
 * sees everything that was committed before it was asked for.
 *
 * One look at everything that may wait. Throws `unavailable`.
 */
export class WaitingWorkStore {
  readonly #looks: LookupBatcher<"", WaitingWork>;

  constructor(pool: DatabasePool) {
    this.#looks = new LookupBatcher(async (keys) => {
      const found = await pool.one(sql.type(waitingRow)`
        select commands, parked, jobs, deliveries, silence, recording, pieces, files
        from waiting_work()`);
      return keys.map(() => found);
    });
  }

  async read(): Promise<WaitingWork> {
    const found = await this.#looks.get("");
    if (found === undefined) throw new AppError("internal", "The look at the record saw nothing.");
    return found;
  }
}

/** Whether work of these kinds waits; without a look there may always be some. */
export async function isWaiting(
  look: WaitingWorkStore | undefined,
  ...kinds: readonly (keyof WaitingWork)[]
): Promise<boolean> {
  if (look === undefined) return true;
  const found = await look.read();
  return kinds.some((kind) => found[kind]);
}
