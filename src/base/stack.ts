import { withTimeout } from "./deferred.ts";
import { errorMessage } from "./errors.ts";
import type { Log } from "./log.ts";

/**
 * Started parts, which are stopped in reverse order; a part that fails to stop does not prevent the
 * others.
 */
export class Stack {
  #entries: { name: string; stop: () => Promise<void> | void; ms: number | undefined }[] = [];
  #stopping = false;
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** True from the beginning of `stop`. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /**
   * Adds a part.
   *
   * @param ms time limit of its stop, for parts that have work to finish
   */
  push(name: string, stop: () => Promise<void> | void, ms?: number): void {
    this.#entries.push({ name, stop, ms });
  }

  /** Starts a part and adds it. */
  start(name: string, part: { start(): void; stop(): Promise<void> | void }): void {
    part.start();
    this.push(name, () => part.stop());
  }

  /** Stops everything; each part has `msPerPart` milliseconds, or its own limit. Never rejects. */
  async stop(msPerPart: number): Promise<void> {
    this.#stopping = true;
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      try {
        const { name, ms = msPerPart } = entry;
        await withTimeout(Promise.resolve(entry.stop()), ms, `Stopping ${name}`);
      } catch (error) {
        this.#log.warn(
          { part: entry.name, error: errorMessage(error) },
          "part did not stop cleanly",
        );
      }
    }
  }
}
