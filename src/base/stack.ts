import { withTimeout } from "./deferred.ts";
import { errorMessage } from "./errors.ts";
import type { Log } from "./log.ts";

/** Started parts, stopped in the reverse order; one that fails to stop does not keep the others. */
export class Stack {
  #entries: { name: string; stop: () => Promise<void> | void }[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  push(name: string, stop: () => Promise<void> | void): void {
    this.#entries.push({ name, stop });
  }

  /** Stops everything; each part has `msPerPart`. Never rejects. */
  async stop(msPerPart: number): Promise<void> {
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      try {
        await withTimeout(Promise.resolve(entry.stop()), msPerPart, `Stopping ${entry.name}`);
      } catch (error) {
        this.#log.warn(
          { part: entry.name, error: errorMessage(error) },
          "part did not stop cleanly",
        );
      }
    }
  }
}
