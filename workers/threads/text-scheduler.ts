import { AppError } from "../../src/base/errors.ts";
import { loadTextTask, type TextTask, type TextTaskName, type TextTools } from "./text-task.ts";
import { MAX_TEXTS, type ThreadEvent, toFault } from "./thread-protocol.ts";

type Steps = ReturnType<TextTask>;

/** Runs the work on text of one thread in small steps, so that a question does not wait for a long session's notes. */
export class TextScheduler {
  readonly #emit: (event: ThreadEvent) => void;
  readonly #tools: TextTools;
  /** Undefined while the task is loaded, or waits. */
  readonly #works = new Map<number, Steps | undefined>();
  #scheduled = false;

  constructor(emit: (event: ThreadEvent) => void, tools: TextTools = {}) {
    this.#emit = emit;
    this.#tools = tools;
  }

  /** Starts work; its results are sent as events. Throws `overloaded` when too much is running. */
  async start(work: number, task: TextTaskName, request: Uint8Array): Promise<void> {
    if (this.#works.size >= MAX_TEXTS) {
      throw new AppError("overloaded", "This thread works on several texts already.");
    }
    this.#works.set(work, undefined);
    try {
      const run = await loadTextTask(task);
      // The work was cancelled while the task was being loaded.
      if (!this.#works.has(work)) return;
      this.#works.set(work, run(request, this.#tools));
      this.#schedule();
    } catch (error) {
      this.#works.delete(work);
      throw error;
    }
  }

  /** Cancels work; no events of it are sent afterwards. */
  cancel(work: number): void {
    this.#works.get(work)?.return();
    this.#works.delete(work);
  }

  cancelAll(): void {
    for (const work of [...this.#works.keys()]) this.cancel(work);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#round());
  }

  /** Runs one step of each, then returns to the event loop. */
  #round(): void {
    this.#scheduled = false;
    let more = false;
    for (const [work, steps] of [...this.#works]) {
      if (steps === undefined) continue;
      this.#step(work, steps);
      more ||= this.#works.has(work);
    }
    if (more) this.#schedule();
  }

  #step(work: number, steps: Steps): void {
    try {
      const { done, value } = steps.next();
      if (value instanceof Promise) return this.#park(work, steps, value);
      if (value !== undefined) this.#emit({ kind: "text", work, message: value });
      if (done !== true) return;
      this.#works.delete(work);
      this.#emit({ kind: "text-done", work });
    } catch (error) {
      this.#fail(work, error);
    }
  }

  /** Goes on with the work when the promise has settled; a cancelled one is left out. */
  #park(work: number, steps: Steps, until: Promise<unknown>): void {
    this.#works.set(work, undefined);
    until.then(
      () => {
        if (!this.#works.has(work)) return;
        this.#works.set(work, steps);
        this.#schedule();
      },
      (error: unknown) => {
        if (this.#works.has(work)) this.#fail(work, error);
      },
    );
  }

  #fail(work: number, error: unknown): void {
    this.#works.delete(work);
    this.#emit({ kind: "text-failed", work, fault: toFault(error) });
  }
}
