import { transfer } from "comlink";
import { createDeferred, type Deferred, withTimeout } from "../../src/base/deferred.ts";
import { AppError, isAppError } from "../../src/base/errors.ts";
import type { TextTaskName } from "./text-task.ts";
import { type Thread, toOwned } from "./thread.ts";
import { fromFault, type ThreadEvent } from "./thread-protocol.ts";

const START_MS = 30_000;
const WORK_MS = 10 * 60_000;

export interface TextWork {
  task: TextTaskName;
  /** The request, encoded for the task. */
  request: Uint8Array;
  /** Receives every answer, encoded, in order. */
  onMessage: (message: Uint8Array) => void;
  signal: AbortSignal;
}

interface Running {
  onMessage: (message: Uint8Array) => void;
  done: Deferred<void>;
}

/** Running work on text of one thread slot. */
export class TextCalls {
  readonly #running = new Map<number, Running>();
  readonly #onChange: () => void;
  #nextId = 1;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#running.size;
  }

  /**
   * Rejects with the task's own error, or `unavailable` when aborted or when the thread is lost.
   */
  async run(thread: Thread, { task, request, onMessage, signal }: TextWork): Promise<void> {
    const id = this.#nextId;
    this.#nextId += 1;
    const done = createDeferred<void>();
    // The start may fail first; then this promise is not awaited.
    done.promise.catch(() => {});
    const abort = (): void =>
      done.reject(new AppError("unavailable", "The work was given up by its caller."));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    this.#running.set(id, { onMessage, done });
    this.#onChange();
    try {
      const owned = toOwned(request);
      await thread.call("Starting work on text", START_MS, (remote) =>
        remote.startText(id, task, transfer(owned, [owned.buffer])),
      );
      await withTimeout(done.promise, WORK_MS, "Work on text");
    } catch (error) {
      // Best effort: a thread that has ended does no work.
      thread.call("Giving up text", START_MS, (remote) => remote.cancelText(id)).catch(() => {});
      // Unlike audio, text cannot have caused the thread's failure, so the work may be retried.
      if (isAppError(error, "worker_broken")) {
        throw new AppError("unavailable", "The thread that worked on it ended. Please try again.", {
          cause: error,
        });
      }
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#running.delete(id);
      this.#onChange();
    }
  }

  onEvent(event: ThreadEvent): void {
    if (event.kind === "text") this.#running.get(event.work)?.onMessage(event.message);
    else if (event.kind === "text-done") this.#running.get(event.work)?.done.resolve();
    else if (event.kind === "text-failed") {
      this.#running.get(event.work)?.done.reject(fromFault(event.fault));
    }
  }

  /** Fails all work, because the thread has ended. */
  fail(reason: AppError): void {
    for (const { done } of this.#running.values()) done.reject(reason);
  }
}
