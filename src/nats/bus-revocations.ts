import type { RevocationEvent, RevocationFeed } from "../access/revocations.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";
import { REVOCATIONS } from "../wire/subjects.ts";
import type { MessageBus } from "./message-bus.ts";

type Listener = (event: RevocationEvent) => void;

/** Sends revocations between processes over core NATS; each process handles its own at once. */
export class BusRevocations implements RevocationFeed {
  readonly #bus: MessageBus;
  readonly #listeners = new Set<Listener>();
  #stopListening: (() => void) | undefined;

  constructor(bus: MessageBus) {
    this.#bus = bus;
  }

  start(): void {
    this.#stopListening ??= this.#bus.subscribe(REVOCATIONS, (data) => {
      const event = decodeJson(data) as RevocationEvent | undefined;
      if (typeof event?.kind === "string") this.deliver(event);
    });
  }

  stop(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** This process may receive its own event twice, which is harmless. */
  publish(event: RevocationEvent): void {
    this.deliver(event);
    this.#bus.publish(REVOCATIONS, encodeJson(event));
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies only this process, for events of which other processes learn by themselves. */
  deliver(event: RevocationEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}
