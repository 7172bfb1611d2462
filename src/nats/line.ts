import { ErrorCode, Events, type Msg, type NatsConnection, NatsError } from "nats";
import { AppError } from "../base/errors.ts";

/**
 * Port: messages between processes. Each comes at most once, in the order of its sender, to
 * whoever listens on its subject at that moment.
 */
export interface Line {
  /** Drops the message when the line is closed; what is sent during a break may go later or never. */
  publish(subject: string, data: Uint8Array): void;
  /** A subscription outlasts breaks. Returns how to stop. */
  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void;
  /**
   * Asks whoever serves the subject. Rejects with `unavailable` when certainly nobody was asked,
   * with `timeout` when there is no answer after `ms`.
   */
  request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array>;
  /** Answers what is asked, and hears what is published; `onRequest` never rejects. Returns how to stop. */
  serve(subject: string, onRequest: OnRequest): () => void;
  /** Resolves when the other end has all that was sent and subscribed before. Rejects when closed. */
  flush(): Promise<void>;
  isClosed(): boolean;
  /** `listener` is called each time the line stands again after a break. */
  onBack(listener: () => void): void;
}

/** Answers a request. Where it resolves to undefined nothing is sent, and the asker's time runs out. */
export type OnRequest = (data: Uint8Array) => Promise<Uint8Array | undefined>;

/** Nobody was asked. */
const REFUSALS: ReadonlySet<string> = new Set([
  ErrorCode.NoResponders,
  ErrorCode.ConnectionClosed,
  ErrorCode.ConnectionDraining,
]);

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

  async request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array> {
    try {
      return (await this.#connection.request(subject, data, { timeout: ms })).data;
    } catch (cause) {
      const isRefused = cause instanceof NatsError && REFUSALS.has(cause.code);
      throw isRefused
        ? new AppError("unavailable", "Nobody is there to be asked.", { cause, retryAfter: 1 })
        : new AppError("timeout", "There was no answer in time.", { cause });
    }
  }

  serve(subject: string, onRequest: OnRequest): () => void {
    const answer = async (message: Msg): Promise<void> => {
      const reply = await onRequest(message.data);
      if (reply !== undefined && !this.isClosed()) message.respond(reply);
    };
    const subscription = this.#connection.subscribe(subject, {
      callback: (_error, message) => void answer(message),
    });
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
