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
import type { CommandQueue } from "./command-queue.ts";
import type { Line } from "./line.ts";

/** Commands that may wait for their answer at once. */
const MAX_PENDING = 2_000;
const ASK_TIMEOUT = 8_000;
/** Posted commands that the server has not been seen to take yet. */
const MAX_POSTED = 10_000;

/**
 * Sends commands to actors. A published command is only under
 * way; what must not be lost is in the outbox table as well.
 */
export class CommandSender implements ActorRef, QueueOwner {
  readonly #line: Line;
  readonly #queue: Pick<CommandQueue, "put" | "post">;
  readonly #runtime: Runtime;
  readonly #replySubject: string;
  readonly #pending = new Map<string, Deferred<unknown>>();
  #stopListening: (() => void) | undefined;
  #refused = 0;
  #posted = 0;
  #postsRefused = 0;
  #confirming = false;

  constructor(line: Line, queue: Pick<CommandQueue, "put" | "post">, runtime: Runtime) {
    this.#line = line;
    this.#queue = queue;
    this.#runtime = runtime;
    this.#replySubject = `voice.replies.${runtime.newId()}`;
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
    this.#stopListening ??= this.#line.subscribe(this.#replySubject, (data) =>
      this.#settle(decodeJson(data) as CommandReply),
    );
  }

  stop(): void {
    this.#stopListening?.();
    for (const waiting of this.#pending.values()) {
      waiting.reject(new AppError("unavailable", "The service is shutting down."));
    }
    this.#pending.clear();
  }

  /** Publishes without waiting for the actor. Rejects when the queue does not answer. */
  async send(sessionId: string, command: ActorCommand, commandId: string): Promise<void> {
    await this.#publish({ v: 1, id: commandId, sessionId, command });
  }

  /**
   * Hands a command over without waiting for the queue: many times cheaper than `send`, for
   * commands that are in the outbox table, whose sweep publishes again what this loses. Throws
   * `unavailable` when the line takes nothing.
   */
  post(sessionId: string, command: ActorCommand, commandId: string): void {
    if (this.#posted >= MAX_POSTED || this.#line.isClosed()) {
      this.#postsRefused += 1;
      throw away();
    }
    const data = encodeJson({ v: 1, id: commandId, sessionId, command } satisfies CommandEnvelope);
    this.#queue.post(partitionOf(sessionId), commandId, data);
    this.#posted += 1;
    if (!this.#confirming) void this.#confirm();
  }

  /** While NATS is away this waits, and what is posted meanwhile is in memory. */
  async #confirm(): Promise<void> {
    this.#confirming = true;
    try {
      while (this.#posted > 0) {
        const sent = this.#posted;
        await this.#line.flush();
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
    try {
      await this.#queue.put(partitionOf(envelope.sessionId), envelope.id, encodeJson(envelope));
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

function toCode(code: string): ErrorCode {
  return code in ERROR_STATUS ? (code as ErrorCode) : "internal";
}
