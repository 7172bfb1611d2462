import { AppError, toAppError } from "../../base/errors.ts";
import { WorkerCalls, type WorkerCallsOptions } from "../../inference/worker-calls.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { SummariseRequest, SummariseResponse, Summary } from "../../wire/gen/voice/v1/text.ts";
import { TextServiceService } from "../../wire/gen/voice/v1/worker_services.ts";
import type { ClaimedJob, JobContext, JobHandler } from "../jobs/queue.ts";
import type { SummaryJobStore } from "./job-store.ts";

export interface SummariseOptions {
  signal: AbortSignal;
  onProgress(fraction: number): void;
}

/** Port: summarises a transcript. Equal requests give equal summaries as long as no language model words them. */
export interface Summariser {
  /**
   * Rejects with `overloaded` when no worker can take it now, `unavailable` when the worker was
   * lost or `signal` aborted, `timeout`, or `bad_request`.
   */
  summarise(request: SummariseRequest, options: SummariseOptions): Promise<Summary>;
}

/**
 * Runs jobs of kind `summarisation`: reads the words, has them summarised, and stores the summary.
 */
export class Summarisation implements JobHandler {
  readonly kind = "summarisation";
  readonly #store: SummaryJobStore;
  readonly #summariser: Summariser;
  readonly #notifier: CommandNotifier;

  constructor(store: SummaryJobStore, summariser: Summariser, notifier: CommandNotifier) {
    this.#store = store;
    this.#summariser = summariser;
    this.#notifier = notifier;
  }

  async run(job: ClaimedJob, context: JobContext): Promise<void> {
    const source = await this.#store.load(job);
    const summary = await this.#summariser.summarise(source.request, {
      signal: context.signal,
      // The rest of the progress is storing it.
      onProgress: (fraction) => context.onProgress(0.95 * fraction),
    });
    const due = await this.#store.store(job, source, summary);
    this.#notifier.notify(due);
  }
}

/** A language model may need some minutes for each part of a long session. */
const DEADLINE_MS = 60 * 60_000;

/** Sends summaries to the least busy worker. */
export class WorkerSummariser implements Summariser {
  readonly #calls: WorkerCalls;

  constructor(options: WorkerCallsOptions) {
    this.#calls = new WorkerCalls({ absentMs: 0, ...options });
  }

  async summarise(request: SummariseRequest, options: SummariseOptions): Promise<Summary> {
    let summary: Summary | undefined;
    let hasBegun = false;
    try {
      await this.#calls.call(TextServiceService.summarise, request, {
        deadlineMs: DEADLINE_MS,
        signal: options.signal,
        onMessage: ({ message }: SummariseResponse) => {
          if (message?.$case === "summary") summary = message.value;
          else if (message !== undefined) options.onProgress(message.value.fraction);
        },
        onBegun: () => {
          hasBegun = true;
        },
        purpose: "summarise",
        // The queue repeats it, and counts how often.
        attempts: 1,
      });
    } catch (cause) {
      const error = toAppError(cause);
      if (options.signal.aborted || hasBegun || error.code !== "unavailable") throw error;
      // Then the job waits and no attempt is counted.
      throw new AppError("overloaded", "The summary waits for a worker.", { cause: error });
    }
    if (summary !== undefined) return summary;
    throw new AppError("unavailable", "The worker ended before the summary was there.");
  }
}
