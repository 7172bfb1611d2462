import { parentPort, Worker } from "node:worker_threads";
import { createDeferred, type Deferred, withTimeout } from "../deferred.ts";
import { AppError, errnoOf, errorMessage, isAppError, systemFault } from "../errors.ts";

interface ThreadCallsOptions {
  /** The module that the thread runs; it calls `serveThreadCalls`. */
  entry: URL;
  /** What it does, for messages: "Decoding sound". */
  what: string;
  /** A call that takes longer is rejected, and the thread is replaced. */
  longestMs: number;
  /** Calls beyond these are refused; each holds its request in memory. */
  mostWaiting: number;
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
 * Calls to a thread of its own, so that what takes long or walks a stranger's bytes holds up
 * nothing else. The thread starts with the first call, and again after it ended.
 */
export class ThreadCalls<Request, Result> {
  readonly #options: ThreadCallsOptions;
  readonly #pending = new Map<number, Deferred<Answer<Result>>>();
  #thread: Worker | undefined;
  #calls = 0;

  constructor(options: ThreadCallsOptions) {
    this.#options = options;
  }

  /**
   * Rejects with `unavailable` when the thread ends or the system fails it, with `timeout` when it is too slow, and with
   * `overloaded` when too much waits for it.
   */
  async call(request: Request): Promise<Result> {
    const { what, longestMs, mostWaiting } = this.#options;
    if (this.#pending.size >= mostWaiting) {
      throw new AppError("overloaded", `${what}: too much waits for it just now. Please retry.`, {
        retryAfter: 2,
      });
    }
    const thread = this.#running();
    this.#calls += 1;
    const id = this.#calls;
    const deferred = createDeferred<Answer<Result>>();
    this.#pending.set(id, deferred);
    try {
      thread.postMessage({ id, request } satisfies Call<Request>);
      const answer = await withTimeout(deferred.promise, longestMs, what);
      if (answer.kind === "done") return answer.result;
      const { message, errno } = answer;
      const failure = Object.assign(new Error(`${what} failed: ${message}`), { code: errno });
      throw systemFault(failure) ?? new AppError("internal", failure.message);
    } catch (error) {
      if (isAppError(error, "timeout")) await thread.terminate();
      throw error;
    } finally {
      this.#pending.delete(id);
    }
  }

  /** Ends the thread; unfinished calls are rejected. */
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
    thread.on("message", (answer: Answer<Result>) => this.#pending.get(answer.id)?.resolve(answer));
    thread.on("error", (error) => this.#ended(thread, error));
    thread.on("exit", () => this.#ended(thread, undefined));
    return thread;
  }

  #ended(thread: Worker, cause: Error | undefined): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const message = `${this.#options.what} is not possible just now. Please retry.`;
    const reason = new AppError("unavailable", message, { cause, retryAfter: 1 });
    for (const { reject } of this.#pending.values()) reject(reason);
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
