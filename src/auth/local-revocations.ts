import type { RevocationEvent, RevocationFeed } from "./revocation-feed.ts";

/** A revocation feed within one process; the bus adapter carries it between processes. */
export class LocalRevocations implements RevocationFeed {
  readonly #listeners = new Set<(event: RevocationEvent) => void>();

  publish(event: RevocationEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  subscribe(listener: (event: RevocationEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
