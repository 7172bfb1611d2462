import type { AppContext } from "./app-shared.ts";
import { PlacedSummariser } from "./inference/placed-summariser.ts";
import type { WorkerClient } from "./inference/worker-client.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { Summarisation } from "./jobs/summarisation.ts";
import { PostgresJobQueue } from "./store/job-queue.ts";
import { PostgresSummaryBook } from "./store/summary-book.ts";
import { JOBS_WAITING } from "./wire/subjects.ts";

/** Batch work, done by every host of the role `sessions`. */
export function startJobs(context: AppContext, client: WorkerClient): void {
  const { config, log, stack, shared, queues } = context;
  const { pool, work, placement, notifier, line, background: runtime } = shared;
  const summariser = new PlacedSummariser(placement, client, config.workerKey);
  const runner = new JobRunner({
    queue: new PostgresJobQueue(pool, work),
    handlers: [new Summarisation(new PostgresSummaryBook(pool), summariser, notifier)],
    log,
    runtime,
  });
  runner.start();
  stack.push(
    "job news",
    line.subscribe(JOBS_WAITING, () => runner.wake()),
  );
  queues.add(runner);
  stack.push("job runner", () => runner.stop());
}
