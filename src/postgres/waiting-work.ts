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
  fragments: z.boolean(),
  files: z.boolean(),
});

/**
 * Kinds of background work, and whether any of each waits: commands to sessions, parked commands,
 * due batch jobs and webhook messages, audio to be silenced, recording sessions, open chunks, files
 * of deleted sessions.
 */
export type WaitingWork = z.output<typeof waitingRow>;

/**
 * Looks up all background work with one statement. Background tasks ask here first, and those that
 * ask in the same turn share the answer, so an idle installation costs one statement however many
 * tasks ask. The answer includes everything that was committed before the call. Throws
 * `unavailable`.
 */
export class WaitingWorkStore {
  readonly #batcher: LookupBatcher<"", WaitingWork>;

  constructor(pool: DatabasePool) {
    this.#batcher = new LookupBatcher(async (keys) => {
      const found = await pool.one(sql.type(waitingRow)`
        select commands, parked, jobs, deliveries, silence, recording, pieces as fragments, files
        from waiting_work()`);
      return keys.map(() => found);
    });
  }

  async read(): Promise<WaitingWork> {
    const found = await this.#batcher.get("");
    if (found === undefined)
      throw new AppError("internal", "The poll of the record returned nothing.");
    return found;
  }
}

/** Whether work of these kinds waits; true when there is no `look` to ask. */
export async function isWaiting(
  pendingWork: WaitingWorkStore | undefined,
  ...kinds: readonly (keyof WaitingWork)[]
): Promise<boolean> {
  if (pendingWork === undefined) return true;
  const found = await pendingWork.read();
  return kinds.some((kind) => found[kind]);
}
