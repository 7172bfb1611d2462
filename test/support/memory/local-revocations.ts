import type { RevocationEvent, RevocationFeed } from "../../../src/access/revocations.ts";
import { errorMessage } from "../../../src/base/errors.ts";
import { type Log, silentLog } from "../../../src/base/log.ts";

/** A revocation feed within one process; the bus adapter carries it between processes. */
export class LocalRevocations implements RevocationFeed {
  readonly #listeners = new Set<(event: RevocationEvent) => void>();

  readonly #log: Log;

  constructor(log: Log = silentLog) {
    this.#log = log;
  }

  publish(event: RevocationEvent): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        // One deaf listener must not keep the others from hearing that a right ended.
        this.#log.error({ kind: event.kind, error: errorMessage(error) }, "revocation not heard");
      }
    }
  }

  subscribe(listener: (event: RevocationEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
