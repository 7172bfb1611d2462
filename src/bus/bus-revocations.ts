import type { NatsConnection, Subscription } from "nats";
import type { RevocationEvent, RevocationFeed } from "../auth/revocation-feed.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { REVOCATIONS } from "../wire/subjects.ts";

type Listener = (event: RevocationEvent) => void;

/** Revocations between processes over core NATS; each process hears its own at once. */
export class BusRevocations implements RevocationFeed {
  readonly #connection: NatsConnection;
  readonly #listeners = new Set<Listener>();
  #subscription: Subscription | undefined;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  start(): void {
    this.#subscription ??= this.#connection.subscribe(REVOCATIONS, {
      callback: (_error, message) => {
        const event = decodeJson(message.data) as RevocationEvent | undefined;
        if (typeof event?.kind === "string") this.#tell(event);
      },
    });
  }

  stop(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  /** This process may hear its own event twice; forgetting twice is harmless. */
  publish(event: RevocationEvent): void {
    this.#tell(event);
    if (!this.#connection.isClosed()) this.#connection.publish(REVOCATIONS, encodeJson(event));
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(event: RevocationEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}
