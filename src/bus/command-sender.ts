import type { CommandRecord } from "../actor/command-record.ts";
import type { Outcome } from "../actor/outcomes.ts";
import type { ActorCommand, ActorRef } from "../actor/ref.ts";
import { createDeferred, type Deferred, withTimeout } from "../base/deferred.ts";
import { AppError, ERROR_STATUS, type ErrorCode, isAppError } from "../base/errors.ts";
import { partitionOf } from "../base/partition.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeJson,
  encodeJson,
} from "../wire/envelope.ts";
import { away, type CommandQueue } from "./command-queue.ts";
import type { Line } from "./line.ts";

/** Commands that may wait for their answer at once. */
const MAX_PENDING = 2_000;
/** How long a wish may take, milliseconds. */
const ASK_TIMEOUT = 8_000;
/** Between two questions to the record, milliseconds. */
const RECORD_PAUSE = 100;
/** Posted commands that the server has not been seen to take yet. */
const MAX_POSTED = 10_000;

export interface CommandSenderParts {
  line: Line;
  queue: Pick<CommandQueue, "put" | "post">;
  record: CommandRecord;
  runtime: Runtime;
  /**
   * How long a wish may take, milliseconds; the record is then asked for half as long again what
   * became of it.
   */
  askTimeout?: number;
}

/**
 * Sends commands to actors. A published command is only under
 * way; what must not be lost is in the outbox table as well.
 */
export class CommandSender implements ActorRef, QueueOwner {
  readonly #line: Line;
  readonly #queue: Pick<CommandQueue, "put" | "post">;
  readonly #runtime: Runtime;
  readonly #replySubject: string;
  readonly #record: CommandRecord;
  readonly #askTimeout: number;
  /** By the command's id; some wait for the same one. */
  readonly #pending = new Map<string, Set<Deferred<Outcome | undefined>>>();
  #waiting = 0;
  #stopListening: (() => void) | undefined;
  #refused = 0;
  #posted = 0;
  #postsRefused = 0;
  #confirming = false;

  constructor({ line, queue, record, runtime, askTimeout = ASK_TIMEOUT }: CommandSenderParts) {
    this.#askTimeout = askTimeout;
    this.#record = record;
    this.#line = line;
    this.#queue = queue;
    this.#runtime = runtime;
    this.#replySubject = `voice.replies.${runtime.newId()}`;
  }

  get queues(): readonly QueueFigures[] {
    return [
      {
        queue: "answers_awaited",
        length: this.#waiting,
        limit: MAX_PENDING,
        refused: this.#refused,
      },
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
    // Whether it is done the record knows, as long as there is time to ask it.
    for (const waiting of this.#pending.values())
      for (const each of waiting) each.resolve(undefined);
  }

  /** Publishes without waiting for the actor. Rejects when the queue does not answer. */
  async send(sessionId: string, command: ActorCommand, commandId: string): Promise<void> {
    const data = encodeJson({ v: 1, id: commandId, sessionId, command } satisfies CommandEnvelope);
    try {
      await this.#queue.put(partitionOf(sessionId), commandId, data);
    } catch (error) {
      throw away(error);
    }
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

  /** A wish has a deadline: it is carried out in time, or never. */
  async ask(sessionId: string, command: ActorCommand, commandId: string): Promise<unknown> {
    if (this.#waiting >= MAX_PENDING) {
      this.#refused += 1;
      throw new AppError("overloaded", "Too many requests are waiting. Please try again.");
    }
    this.#waiting += 1;
    try {
      const deadline = (await this.#record.now()) + this.#askTimeout;
      const wish = { v: 1, id: commandId, sessionId, command, deadline } as const;
      const reply = await this.#replyTo({ ...wish, replyTo: this.#replySubject });
      return settle(reply ?? (await this.#fate(wish)));
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Undefined when none came in time. Throws when the wish is certainly not under way. */
  async #replyTo(envelope: CommandEnvelope): Promise<Outcome | undefined> {
    const waiting = createDeferred<Outcome | undefined>();
    const others = this.#pending.get(envelope.id) ?? new Set();
    this.#pending.set(envelope.id, others.add(waiting));
    const timer = this.#runtime.after(this.#askTimeout, () => waiting.resolve(undefined));
    // A name of its own: what is asked again is another message.
    const putting = this.#queue.put(
      partitionOf(envelope.sessionId),
      this.#runtime.newId(),
      encodeJson(envelope),
    );
    putting.catch((error: unknown) => {
      if (isAppError(error, "unavailable")) waiting.reject(error);
    });
    try {
      return await waiting.promise;
    } finally {
      timer.cancel();
      others.delete(waiting);
      if (others.size === 0) this.#pending.delete(envelope.id);
    }
  }

  /** Of a wish that was not answered. Throws when it was not carried out, or nobody can tell. */
  async #fate(wish: { sessionId: string; id: string; deadline: number }): Promise<Outcome> {
    const runtime = this.#runtime;
    const patience = this.#askTimeout / 2;
    const until = runtime.monotonic() + patience;
    let cause: unknown;
    for (let left = patience; left > 0; left = until - runtime.monotonic()) {
      const asking = this.#record.fate(wish.sessionId, wish.id, wish.deadline);
      const fate = await withTimeout(asking, left, "The record", runtime).catch(
        (error: unknown) => {
          cause = error;
        },
      );
      if (fate?.outcome !== undefined) return fate.outcome;
      if (fate?.isOver) throw notDone();
      await runtime.delay(RECORD_PAUSE);
    }
    throw new AppError(
      "outcome_unknown",
      "It is not known yet whether this was done. Please look before you repeat it; with the same Idempotency-Key it is never done twice.",
      { cause },
    );
  }

  #settle(reply: CommandReply): void {
    const outcome: Outcome = reply?.ok
      ? { ok: true, value: reply.value }
      : { ok: false, code: toCode(reply?.code), message: reply?.message };
    for (const waiting of this.#pending.get(reply?.id) ?? []) waiting.resolve(outcome);
  }
}

function notDone(): AppError {
  return new AppError(
    "unavailable",
    "This was not done, and will not be: the session could not be reached in time. Please try again.",
    { retryAfter: 2 },
  );
}

function settle(outcome: Outcome): unknown {
  if (outcome.ok) return outcome.value;
  throw new AppError(outcome.code, outcome.message);
}

function toCode(code: string): ErrorCode {
  return code in ERROR_STATUS ? (code as ErrorCode) : "internal";
}
