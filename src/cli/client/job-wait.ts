import { setTimeout as delay } from "node:timers/promises";
import type { operations } from "../../client/gen/api-schema.ts";
import { CommandFailure } from "./command-context.ts";
import type { UserSession } from "./user-session.ts";

export type Job = operations["getJob"]["responses"]["200"]["content"]["application/json"];

/** Time between two polls of a job, milliseconds. */
const POLL_MS = 500;

interface JobWaitOptions {
  readonly signal: AbortSignal;
  /** What goes on when the wait is interrupted, such as `the redo`. */
  readonly what: string;
  /** Called with each poll. */
  readonly onProgress?: (job: Job) => void;
}

/** Waits until a job has ended, however long it takes; Ctrl-C ends the wait, not the job. */
export async function endOfJob(
  user: UserSession,
  id: string,
  { signal, what, onProgress }: JobWaitOptions,
): Promise<Job> {
  for (;;) {
    const job = await user.call((client) => client.GET("/jobs/{id}", { params: { path: { id } } }));
    if (job.status !== "queued" && job.status !== "running") return job;
    onProgress?.(job);
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw new CommandFailure(`interrupted; ${what} goes on`);
  }
}
