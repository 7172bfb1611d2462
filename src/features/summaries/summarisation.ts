import type { CommandNotifier } from "../../postgres/sessions-outbox.ts";
import type { JobContext, JobHandler } from "../jobs/job-handler.ts";
import type { ClaimedJob } from "../jobs/job-queue.ts";
import type { Summariser } from "./summariser.ts";
import type { SummaryBook } from "./summary-book.ts";

/** Jobs of kind `summarisation`: reads the words, has them summarised, stores what came. */
export class Summarisation implements JobHandler {
  readonly kind = "summarisation";
  readonly #book: SummaryBook;
  readonly #summariser: Summariser;
  readonly #notifier: CommandNotifier;

  constructor(book: SummaryBook, summariser: Summariser, notifier: CommandNotifier) {
    this.#book = book;
    this.#summariser = summariser;
    this.#notifier = notifier;
  }

  async run(job: ClaimedJob, context: JobContext): Promise<void> {
    const source = await this.#book.load(job);
    const summary = await this.#summariser.summarise(source.request, {
      signal: context.signal,
      // The rest is storing it.
      onProgress: (fraction) => context.onProgress(0.95 * fraction),
    });
    const due = await this.#book.store(job, source, summary);
    this.#notifier.notify(due);
  }
}
