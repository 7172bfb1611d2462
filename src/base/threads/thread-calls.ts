import { parentPort, Worker } from "node:worker_threads";
import { createDeferred, type Deferred, withTimeout } from "../deferred.ts";
import { AppError, errnoOf, errorMessage, isAppError, systemFault } from "../errors.ts";
import type { QueueFigures, QueueOwner } from "../queue-metrics.ts";
import { abandoned, FairTurns } from "../work/fair-turns.ts";

interface ThreadCallsOptions {
  /** The module that each thread runs; it calls `serveThreadCalls`. */
  entry: URL;
  /** Its name among the metrics. */
  queue: string;
  /** What it does, for messages: "Decoding sound". */
  what: string;
  /** How many threads there are; one tenant has one of them at a time. */
  threads: number;
  /** A call that takes longer is rejected, and its thread is replaced. */
  longestMs: number;
  /** How many calls may wait, and of them for one tenant. */
  waiting: { capacity: number; share: number };
}

interface Call<Request> {
  readonly id: number;
  readonly request: Request;
}

type Answer<Result> = { readonly id: number } & (
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly message: string; readonly errno: string | undefined }
);

/**
 * Calls to threads of their own, so that what takes long or walks a stranger's bytes holds up nothing
 * else. Tenants have their turns one after the other. A thread starts with the first call for it, and
 * again after it ended.
 */
export class ThreadCalls<Request, Result> implements QueueOwner {
  readonly #options: ThreadCallsOptions;
  readonly #turns: FairTurns;
  readonly #threads: readonly CallThread<Request, Result>[];

  constructor(options: ThreadCallsOptions) {
    const { queue, what, threads, longestMs, waiting } = options;
    this.#options = options;
    const atOnce = { atOnce: threads, atOnceOfOne: 1 };
    this.#turns = new FairTurns({
      ...{ queue, what, ...atOnce, waiting, longestWaitMs: longestMs, retryAfter: 2 },
    });
    this.#threads = Array.from({ length: threads }, () => new CallThread(options));
  }

  get queues(): readonly QueueFigures[] {
    return this.#turns.queues;
  }

  /**
   * Rejects with `unavailable` when the thread ends or the system fails it, with `timeout` when it is too slow, and with
   * `overloaded` when too much waits for it.
   *
   * @param tenant for whom it is done; see `FairTurns`
   * @param prepare makes the request when it is its turn: what waits holds no more than it must
   * @param signal gives the call up, whose thread is replaced when it has begun: `unavailable`
   */
  call(
    tenant: string,
    prepare: () => Request | Promise<Request>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const work = async (): Promise<Result> => {
      const request = await prepare();
      if (signal?.aborted) throw abandoned();
      const free = this.#threads.filter((thread) => !thread.isBusy);
      // What it did for the tenant before it may still know.
      const idle = free.find((thread) => thread.servedLast === tenant) ?? free[0];
      if (idle === undefined) throw new Error(`${this.#options.what}: no thread is idle.`);
      return idle.call(tenant, request, signal);
    };
    return this.#turns.run(tenant, work, signal);
  }

  /** Ends the threads; unfinished calls are rejected. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }
}

/** One thread, which carries out one call at a time. */
class CallThread<Request, Result> {
  /** The tenant of the newest call. */
  servedLast: string | undefined;
  readonly #options: ThreadCallsOptions;
  #pending: Deferred<Answer<Result>> | undefined;
  #thread: Worker | undefined;
  #calls = 0;

  constructor(options: ThreadCallsOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#pending !== undefined;
  }

  async call(tenant: string, request: Request, signal: AbortSignal | undefined): Promise<Result> {
    this.servedLast = tenant;
    const { what, longestMs } = this.#options;
    const thread = this.#running();
    this.#calls += 1;
    const deferred = createDeferred<Answer<Result>>();
    this.#pending = deferred;
    const giveUp = (): void => deferred.reject(abandoned());
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      thread.postMessage({ id: this.#calls, request } satisfies Call<Request>);
      const answer = await withTimeout(deferred.promise, longestMs, what);
      if (answer.kind === "done") return answer.result;
      const { message, errno } = answer;
      const failure = Object.assign(new Error(`${what} failed: ${message}`), { code: errno });
      throw systemFault(failure) ?? new AppError("internal", failure.message);
    } catch (error) {
      if (isAppError(error, "timeout") || signal?.aborted) await thread.terminate();
      throw error;
    } finally {
      signal?.removeEventListener("abort", giveUp);
      this.#pending = undefined;
    }
  }

  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }

  #running(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(this.#options.entry, {
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    this.#thread = thread;
    // The thread does not keep the process running.
    thread.unref();
    thread.on("message", (answer: Answer<Result>) => {
      if (answer.id === this.#calls) this.#pending?.resolve(answer);
    });
    thread.on("error", (error) => this.#ended(thread, error));
    thread.on("exit", () => this.#ended(thread, undefined));
    return thread;
  }

  #ended(thread: Worker, cause: Error | undefined): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const message = `${this.#options.what} is not possible just now. Please retry.`;
    this.#pending?.reject(new AppError("unavailable", message, { cause, retryAfter: 1 }));
  }
}

/** Answers the calls of this thread's `ThreadCalls` one after the other, in their order. */
export function serveThreadCalls<Request, Result>(
  carryOut: (request: Request) => Result | Promise<Result>,
): void {
  const port = parentPort;
  if (port === null) throw new Error("only a thread serves calls");
  let last: Promise<void> = Promise.resolve();
  port.on("message", ({ id, request }: Call<Request>) => {
    last = last.then(async () => {
      let answer: Answer<Result>;
      try {
        answer = { id, kind: "done", result: await carryOut(request) };
      } catch (error) {
        answer = { id, kind: "failed", message: errorMessage(error), errno: errnoOf(error) };
      }
      port.postMessage(answer);
    });
  });
}
