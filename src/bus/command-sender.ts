import { headers, type JetStreamClient, type NatsConnection, type Subscription } from "nats";
import type { ActorCommand, ActorRef } from "../actor/ref.ts";
import { createDeferred, type Deferred, withTimeout } from "../base/deferred.ts";
import { AppError, ERROR_STATUS, type ErrorCode } from "../base/errors.ts";
import { partitionOf } from "../base/partition.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeJson,
  encodeJson,
} from "../wire/envelope.ts";
import { commandSubject } from "../wire/subjects.ts";

/** Commands that may wait for their answer at once. */
const MAX_PENDING = 2_000;
const ASK_TIMEOUT = 8_000;
const PUBLISH_TIMEOUT = 3_000;
/** Posted commands that the server has not been seen to take yet. */
const MAX_POSTED = 10_000;

/**
 * Sends commands to actors over JetStream. A published command is only under
 * way; what must not be lost is in the outbox table as well.
 */
export class CommandSender implements ActorRef, QueueOwner {
  readonly #connection: NatsConnection;
  readonly #jetstream: JetStreamClient;
  readonly #runtime: Runtime;
  readonly #replySubject: string;
  readonly #pending = new Map<string, Deferred<unknown>>();
  #subscription: Subscription | undefined;
  #refused = 0;
  #posted = 0;
  #postsRefused = 0;
  #confirming = false;

  constructor(connection: NatsConnection, runtime: Runtime) {
    this.#connection = connection;
    this.#runtime = runtime;
    this.#replySubject = `voice.replies.${runtime.newId()}`;
    this.#jetstream = connection.jetstream({ timeout: PUBLISH_TIMEOUT });
  }

  get queues(): readonly QueueFigures[] {
    const { size: length } = this.#pending;
    return [
      { queue: "answers_awaited", length, limit: MAX_PENDING, refused: this.#refused },
      {
        queue: "commands_posted",
        length: this.#posted,
        limit: MAX_POSTED,
        refused: this.#postsRefused,
      },
    ];
  }

  start(): void {
    this.#subscription ??= this.#connection.subscribe(this.#replySubject, {
      callback: (_error, message) => this.#settle(decodeJson(message.data) as CommandReply),
    });
  }

  stop(): void {
    this.#subscription?.unsubscribe();
    for (const waiting of this.#pending.values()) {
      waiting.reject(new AppError("unavailable", "The service is shutting down."));
    }
    this.#pending.clear();
  }

  /** Publishes without waiting for the actor. Rejects when JetStream does not answer. */
  async send(sessionId: string, command: ActorCommand, commandId: string): Promise<void> {
    await this.#publish({ v: 1, id: commandId, sessionId, command });
  }

  /**
   * Hands a command over without waiting for JetStream: many times cheaper than `send`, for
   * commands that are in the outbox table, whose sweep publishes again what this loses. Throws
   * `unavailable` when NATS takes nothing.
   */
  post(sessionId: string, command: ActorCommand, commandId: string): void {
    if (this.#posted >= MAX_POSTED || this.#connection.isClosed()) {
      this.#postsRefused += 1;
      throw away();
    }
    const { subject, data, head } = toMessage({ v: 1, id: commandId, sessionId, command });
    this.#connection.publish(subject, data, { headers: head });
    this.#posted += 1;
    if (!this.#confirming) void this.#confirm();
  }

  /** While NATS is away this waits, and what is posted meanwhile is in memory. */
  async #confirm(): Promise<void> {
    this.#confirming = true;
    try {
      while (this.#posted > 0) {
        const sent = this.#posted;
        await this.#connection.flush();
        this.#posted -= sent;
      }
    } catch {
      // The connection is closed, and with it goes what it held.
      this.#posted = 0;
    }
    this.#confirming = false;
  }

  async ask(sessionId: string, command: ActorCommand, commandId: string): Promise<unknown> {
    if (this.#pending.size >= MAX_PENDING) {
      this.#refused += 1;
      throw new AppError("overloaded", "Too many requests are waiting. Please try again.");
    }
    const waiting = createDeferred<unknown>();
    // The publish may fail first; then nobody else looks at this promise.
    waiting.promise.catch(() => {});
    this.#pending.set(commandId, waiting);
    try {
      const replyTo = this.#replySubject;
      await this.#publish({ v: 1, id: commandId, sessionId, command, replyTo });
      const runtime = this.#runtime;
      return await withTimeout(waiting.promise, ASK_TIMEOUT, "The session's answer", runtime);
    } finally {
      this.#pending.delete(commandId);
    }
  }

  async #publish(envelope: CommandEnvelope): Promise<void> {
    const { subject, data, head } = toMessage(envelope);
    try {
      await this.#jetstream.publish(subject, data, { headers: head });
    } catch (error) {
      throw away(error);
    }
  }

  #settle(reply: CommandReply): void {
    const waiting = this.#pending.get(reply?.id);
    if (waiting === undefined) return;
    if (reply.ok) waiting.resolve(reply.value);
    else waiting.reject(new AppError(toCode(reply.code), reply.message));
  }
}

function away(cause?: unknown): AppError {
  return new AppError("unavailable", "The message bus is not reachable just now.", {
    cause,
    retryAfter: 2,
  });
}

function toMessage(envelope: CommandEnvelope) {
  const head = headers();
  head.set("Nats-Msg-Id", envelope.id);
  const subject = commandSubject(partitionOf(envelope.sessionId));
  return { subject, data: encodeJson(envelope), head };
}

function toCode(code: string): ErrorCode {
  return code in ERROR_STATUS ? (code as ErrorCode) : "internal";
}
