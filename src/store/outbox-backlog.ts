import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { UploadBacklog } from "../api/upload-backlog.ts";
import { systemClock } from "../base/clock.ts";
import { delay } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import { TroubleLog } from "../base/trouble-log.ts";
import { guarded } from "./store-error.ts";

const EVERY_MS = 2_000;
const RETRY_AFTER = 5;

const lengthsRow = z.object({
  waiting: z.number(),
  parked: z.number(),
  oldestParkedSeconds: z.number(),
});

/**
 * How many committed commands no actor has carried out yet, looked at every 2 s.
 * Devices keep what is refused, so beyond the limit their memory is the queue.
 * Those that were parked keep nobody from sending more.
 */
export class OutboxBacklog implements UploadBacklog, QueueOwner {
  readonly #pool: DatabasePool;
  readonly #log: Log;
  readonly #limit: number;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #lengths = { waiting: 0, parked: 0, oldestParkedSeconds: 0 };
  #refused = 0;

  constructor(pool: DatabasePool, log: Log, limit: number) {
    this.#pool = pool;
    this.#log = log;
    this.#limit = limit;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  get queues(): readonly QueueFigures[] {
    return [
      {
        queue: "outbox",
        length: this.#lengths.waiting,
        limit: this.#limit,
        refused: this.#refused,
      },
    ];
  }

  /** Commands that are tried no more; counted up to the limit. */
  get parked(): { count: number; oldestSeconds: number } {
    const { parked: count, oldestParkedSeconds: oldestSeconds } = this.#lengths;
    return { count, oldestSeconds };
  }

  check(): void {
    if (this.#lengths.waiting <= this.#limit) return;
    this.#refused += 1;
    throw new AppError("overloaded", "More audio came than can be worked off. Please wait.", {
      retryAfter: RETRY_AFTER,
    });
  }

  async #run(): Promise<void> {
    const trouble = new TroubleLog(this.#log, "outbox not readable", systemClock);
    while (!this.#stop.signal.aborted) {
      try {
        this.#lengths = await this.#count();
        trouble.worked();
      } catch (error) {
        trouble.failed(error);
      }
      await delay(EVERY_MS, this.#stop.signal);
    }
  }

  /** Counts no further than matters. */
  #count(): Promise<z.output<typeof lengthsRow>> {
    return guarded(() =>
      this.#pool.one(sql.type(lengthsRow)`
        select waiting, parked,
          coalesce(extract(epoch from now() - parked_since), 0)::float8 as "oldestParkedSeconds"
        from outbox_figures(${this.#limit + 1})`),
    );
  }
}
