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

const countRow = z.object({ count: z.number() });

/**
 * How many committed commands no actor has carried out yet, looked at every 2 s.
 * Devices keep what is refused, so beyond the limit their memory is the queue.
 */
export class OutboxBacklog implements UploadBacklog, QueueOwner {
  readonly #pool: DatabasePool;
  readonly #log: Log;
  readonly #limit: number;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #length = 0;
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
    return [{ queue: "outbox", length: this.#length, limit: this.#limit, refused: this.#refused }];
  }

  check(): void {
    if (this.#length <= this.#limit) return;
    this.#refused += 1;
    throw new AppError("overloaded", "More audio came than can be worked off. Please wait.", {
      retryAfter: RETRY_AFTER,
    });
  }

  async #run(): Promise<void> {
    const trouble = new TroubleLog(this.#log, "outbox not readable", systemClock);
    while (!this.#stop.signal.aborted) {
      try {
        this.#length = await this.#count();
        trouble.worked();
      } catch (error) {
        trouble.failed(error);
      }
      await delay(EVERY_MS, this.#stop.signal);
    }
  }

  /** Counts no further than matters. */
  #count(): Promise<number> {
    return guarded(() =>
      this.#pool.oneFirst(sql.type(countRow)`
        select count(*)::int as count
        from (select 1 from outbox limit ${this.#limit + 1}) as waiting`),
    );
  }
}
