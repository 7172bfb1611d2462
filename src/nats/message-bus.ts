import { ErrorCode, Events, type Msg, type NatsConnection, NatsError } from "nats";
import { AppError } from "../base/errors.ts";
import { isInbox } from "../wire/subjects.ts";

/**
 * Port: messages between processes. Each arrives at most once, in the order of its sender, at
 * everyone who is subscribed to its subject at that moment. Subjects are whole: none has wildcards.
 */
export interface MessageBus {
  /**
   * Sends a message. It is dropped when the bus is closed; during a break it may be sent later or
   * never.
   */
  publish(subject: string, data: Uint8Array): void;
  /** Subscribes to a subject; the subscription survives breaks. Returns a function that ends it. */
  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void;
  /**
   * Sends a request to whoever serves the subject. Rejects with `unavailable` when certainly nobody
   * received it, with `timeout` when there is no answer after `ms`.
   */
  request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array>;
  /**
   * Answers requests and receives published messages; `onRequest` must not reject. Returns a
   * function that ends it.
   */
  serve(subject: string, onRequest: OnRequest): () => void;
  /**
   * Resolves when the server has received everything sent and subscribed before. Rejects when
   * closed.
   */
  flush(): Promise<void>;
  isClosed(): boolean;
  /** Calls `listener` each time the connection is restored after a break. */
  onBack(listener: () => void): void;
}

/** Answers a request. When it resolves to undefined nothing is sent, and the request times out. */
export type OnRequest = (data: Uint8Array) => Promise<Uint8Array | undefined>;

/** Errors after which certainly nobody received the request. */
const REFUSALS: ReadonlySet<string> = new Set([
  ErrorCode.NoResponders,
  ErrorCode.ConnectionClosed,
  ErrorCode.ConnectionDraining,
]);

/** A bus over one NATS connection. */
export class NatsMessageBus implements MessageBus {
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
    const callback = (error: unknown, message: { data: Uint8Array }): void => {
      // The server refused the subscription, which the connection's log tells.
      if (error === null) onMessage(message.data);
    };
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
      // Who asks names the subject of the answer: it may be an inbox and nothing else.
      const isAsked = message.reply !== undefined && isInbox(message.reply);
      if (reply !== undefined && isAsked && !this.isClosed()) message.respond(reply);
    };
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => void (error === null && answer(message)),
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

  /** Round trip to the server, milliseconds. */
  rtt(): Promise<number> {
    return this.#connection.rtt();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type !== Events.Reconnect) continue;
      for (const listener of this.#onBack) listener();
    }
  }
}
