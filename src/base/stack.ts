import { withTimeout } from "./deferred.ts";
import { errorMessage } from "./errors.ts";
import type { Log } from "./log.ts";

/** Started parts, stopped in the reverse order; one that fails to stop does not keep the others. */
export class Stack {
  #entries: { name: string; stop: () => Promise<void> | void; ms: number | undefined }[] = [];
  #stopping = false;
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** True from the first moment of the stop. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** `ms` for a part that has work in hand to finish. */
  push(name: string, stop: () => Promise<void> | void, ms?: number): void {
    this.#entries.push({ name, stop, ms });
  }

  /** Stops everything; each part has `msPerPart`, or its own time. Never rejects. */
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
