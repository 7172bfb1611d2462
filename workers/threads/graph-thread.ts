import { Worker } from "node:worker_threads";
import { type Remote, transfer, wrap } from "comlink";
import { createDeferred, withTimeout } from "../../src/base/deferred.ts";
import { AppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { QueueFigures, QueueOwner } from "../../src/base/queue-metrics.ts";
import { type CallResult, fromFault, toEndpoint } from "./thread-protocol.ts";

/** Calls into the thread, by comlink. Request and answer are encoded messages of graph.proto. */
export interface GraphThreadCalls {
  extract(request: Uint8Array): CallResult<Uint8Array>;
}

const ENTRY = new URL("./graph-thread-entry.ts", import.meta.url);
const MAX_HEAP_MB = 512;

export interface GraphThreadOptions {
  log: Log;
  /** File that the thread runs. */
  entry?: URL;
  /** Requests that may wait besides the running one. */
  waiting?: number;
  /** Time limit of one request, milliseconds; a slower thread is ended. */
  callMs?: number;
  /** Time without a request after which the thread is ended to free its memory, milliseconds. */
  idleMs?: number;
}

interface Running {
  readonly worker: Worker;
  readonly remote: Remote<GraphThreadCalls>;
  /** Rejects when the thread ends. */
  readonly ended: Promise<never>;
}

/**
 * A thread that extracts graphs, one request after the other. It is separate from the speech
 * threads, because it may be busy for seconds and must not delay their words. It is started by the
 * first request and ended when there are none.
 */
export class GraphThread implements QueueOwner {
  readonly #log: Log;
  readonly #entry: URL;
  readonly #maxWaiting: number;
  readonly #callMs: number;
  readonly #idleMs: number;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #running: Running | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isStopped = false;
  #refused = 0;

  constructor(options: GraphThreadOptions) {
    this.#log = options.log;
    this.#entry = options.entry ?? ENTRY;
    this.#maxWaiting = options.waiting ?? 8;
    this.#callMs = options.callMs ?? 60_000;
    this.#idleMs = options.idleMs ?? 60_000;
  }

  get queues(): readonly QueueFigures[] {
    // One request runs, the others wait.
    const limit = this.#maxWaiting + 1;
    return [{ queue: "graphs", length: this.#waiting, limit, refused: this.#refused }];
  }

  /**
   * Extracts a graph; `request` and the answer are encoded. Rejects with `overloaded` when too many
   * wait, `timeout`, or `unavailable` when the thread ends or `signal` aborts.
   */
  async extract(request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#waiting > this.#maxWaiting) {
      this.#refused += 1;
      throw new AppError("overloaded", "Too many graphs are being made. Please try again.");
    }
    this.#waiting += 1;
    const turn = this.#tail.then(() => this.#extract(request, signal));
    this.#tail = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#end();
  }

  async #extract(request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#isStopped) throw new AppError("unavailable", "The worker is stopping.");
    if (signal.aborted) throw new AppError("unavailable", "Nobody waits for this graph any more.");
    clearTimeout(this.#idle);
    this.#running ??= this.#start();
    const { remote, ended } = this.#running;
    try {
      const owned = new Uint8Array(request);
      const call = Promise.race([remote.extract(transfer(owned, [owned.buffer])), ended]);
      const result = await withTimeout(call, this.#callMs, "Making a graph");
      if (result.ok) return result.value;
      throw fromFault(result.fault);
    } catch (error) {
      // Running code in the thread can only be interrupted by ending the thread.
      if (error instanceof AppError && error.code === "timeout") this.#end();
      throw error;
    } finally {
      this.#idle = setTimeout(() => this.#end(), this.#idleMs);
      this.#idle.unref();
    }
  }

  #start(): Running {
    const worker = new Worker(this.#entry, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const end = createDeferred<never>();
    end.promise.catch(() => {});
    const onEnd = (cause: string): void => {
      if (this.#running?.worker === worker) this.#running = undefined;
      end.reject(new AppError("unavailable", `The thread that makes graphs ended (${cause}).`));
    };
    worker.on("error", (error: unknown) => {
      // The message is not logged, as it could quote words of the session.
      const name = error instanceof Error ? error.name : "error";
      this.#log.error({ error: name }, "graph thread failed");
      onEnd(name);
    });
    worker.on("exit", (code) => onEnd(`exit code ${code}`));
    return { worker, remote: wrap<GraphThreadCalls>(toEndpoint(worker)), ended: end.promise };
  }

  #end(): void {
    clearTimeout(this.#idle);
    const running = this.#running;
    this.#running = undefined;
    running?.worker.terminate().catch(() => {});
  }
}
