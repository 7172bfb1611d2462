import { Events, type NatsConnection } from "nats";
import type { Line } from "./line.ts";

/** A line over one connection to NATS. */
export class NatsLine implements Line {
  readonly #connection: NatsConnection;
  readonly #onBack: (() => void)[] = [];

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    void this.#watch();
  }

  publish(subject: string, data: Uint8Array): void {
    if (!this.isClosed()) this.#connection.publish(subject, data);
  }

  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void {
    const callback = (_error: unknown, message: { data: Uint8Array }): void =>
      onMessage(message.data);
    const subscription = this.#connection.subscribe(subject, { callback });
    return () => subscription.unsubscribe();
  }

  flush(): Promise<void> {
    return this.#connection.flush();
  }

  isClosed(): boolean {
    return this.#connection.isClosed();
  }

  onBack(listener: () => void): void {
    this.#onBack.push(listener);
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type !== Events.Reconnect) continue;
      for (const listener of this.#onBack) listener();
    }
  }
}
