import type { ActorRef } from "../actor/actor.ts";
import type { CommandRecord, Outcome } from "../actor/journal.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, type ErrorCode, errorMessage, isErrorCode, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import type { CommandNotifier } from "../postgres/outbox.ts";
import type { OutsideCommand } from "../session/outside-command.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeJson,
  encodeJson,
} from "../wire/envelope.ts";
import { hostSubject, OWNERS_CHANGED } from "../wire/subjects.ts";
import type { MessageBus } from "./message-bus.ts";
import type { PartitionOwners } from "./partition-owners.ts";

/** Most commands that wait for their answer at once. */
const MAX_PENDING = 2_000;
/** Time limit of `ask`, milliseconds. */
const ASK_TIMEOUT = 8_000;
/**
 * Without an answer the command is sent again after this time, because its host may be gone;
 * milliseconds.
 */
const TRY_MS = 2_000;
/** Wait before a command is sent again, milliseconds. */
const AGAIN_MS = 100;
/** Wait before a command is sent again to an overloaded host, milliseconds. */
const OVERLOADED_MS = 500;
/** Wait between two look-ups of an outcome, milliseconds. */
const RECORD_PAUSE = 100;
/** Most posted commands whose receipt by the server is not confirmed yet. */
const MAX_POSTED = 10_000;

interface CommandSenderOptions {
  line: MessageBus;
  owners: PartitionOwners;
  record: CommandRecord;
  runtime: Runtime;
  /** Time limit of `ask`, milliseconds; after it the outcome is looked up for half that time. */
  askTimeout?: number;
}

/**
 * Sends commands to the hosts of their sessions. Delivery is not guaranteed: a command that must
 * not be lost must also be in the outbox table.
 */
export class CommandSender implements ActorRef<OutsideCommand>, QueueOwner {
  readonly #options: CommandSenderOptions;
  readonly #askTimeout: number;
  readonly #stopped = new AbortController();
  #stopListening: (() => void) | undefined;
  #waiting = 0;
  #refused = 0;
  #posted = 0;
  #postsRefused = 0;
  #confirming = false;

  constructor(options: CommandSenderOptions) {
    this.#options = options;
    this.#askTimeout = options.askTimeout ?? ASK_TIMEOUT;
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
    const { line, owners } = this.#options;
    this.#stopListening ??= line.subscribe(OWNERS_CHANGED, () => owners.doubt());
  }

  stop(): void {
    this.#stopListening?.();
    // Outcomes of commands can still be looked up while there is time.
    this.#stopped.abort();
  }

  /**
   * Sends a command that is in the outbox table, without waiting; the outbox sweep delivers what is
   * lost. Throws `unavailable` when the bus takes nothing.
   */
  post(sessionId: string, command: OutsideCommand, commandId: string): void {
    const { line, owners } = this.#options;
    if (this.#posted >= MAX_POSTED || line.isClosed()) {
      this.#postsRefused += 1;
      throw away();
    }
    const data = encodeJson({ v: 1, id: commandId, sessionId, command } satisfies CommandEnvelope);
    const send = (owner: string | undefined): void => {
      if (owner !== undefined) line.publish(hostSubject(owner), data);
    };
    const owner = owners.known(sessionId);
    if (owner !== undefined) send(owner);
    // Without known owners the sweep delivers it.
    else void owners.of(sessionId).then(send, () => {});
    this.#posted += 1;
    if (!this.#confirming) void this.#confirm();
  }

  /** Confirms posted commands. While NATS is away it waits, and posted commands stay in memory. */
  async #confirm(): Promise<void> {
    this.#confirming = true;
    try {
      while (this.#posted > 0) {
        const sent = this.#posted;
        await this.#options.line.flush();
        this.#posted -= sent;
      }
    } catch {
      // The connection is closed, and its buffered messages are lost.
      this.#posted = 0;
    }
    this.#confirming = false;
  }

  /**
   * Sends a command and returns its outcome. The command has a deadline: it is carried out in time,
   * or never.
   */
  async ask(sessionId: string, command: OutsideCommand, commandId: string): Promise<unknown> {
    if (this.#waiting >= MAX_PENDING) {
      this.#refused += 1;
      throw new AppError("overloaded", "Too many requests are waiting. Please try again.");
    }
    this.#waiting += 1;
    try {
      if (this.#options.line.isClosed()) throw away();
      const deadline = (await this.#options.record.now()) + this.#askTimeout;
      const request = { v: 1, id: commandId, sessionId, command, deadline } as const;
      return settle((await this.#replyTo(request)) ?? (await this.#fate(request)));
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * Sends the command repeatedly, under the same id, until an answer comes. Undefined when none
   * came in time.
   */
  async #replyTo(request: CommandEnvelope): Promise<Outcome | undefined> {
    const { runtime } = this.#options;
    const data = encodeJson(request);
    const until = runtime.monotonic() + this.#askTimeout;
    for (let left = this.#askTimeout; left > 0; left = until - runtime.monotonic()) {
      const answer = await this.#tryOnce(request.sessionId, data, Math.min(left, TRY_MS));
      if ("outcome" in answer) return answer.outcome;
      if (this.#stopped.signal.aborted) return undefined;
      const rest = Math.min(answer.again, until - runtime.monotonic());
      await runtime.delay(Math.max(1, rest), this.#stopped.signal);
    }
    return undefined;
  }

  async #tryOnce(
    sessionId: string,
    data: Uint8Array,
    ms: number,
  ): Promise<{ outcome: Outcome | undefined } | { again: number }> {
    const { line, owners } = this.#options;
    try {
      const owner = await owners.of(sessionId);
      if (owner === undefined) throw away();
      const reply = decodeJson(await line.request(hostSubject(owner), data, ms)) as CommandReply;
      if (reply.ok) return { outcome: { ok: true, value: reply.value } };
      const { message } = reply;
      const code = toCode(reply.code);
      // Only the stored outcome shows whether an earlier attempt was carried out.
      if (code === "too_late") return { outcome: undefined };
      const error = new AppError(code, message);
      if (error.retryable) throw error;
      return { outcome: { ok: false, code, message } };
    } catch (error) {
      owners.doubt();
      return { again: toAppError(error).code === "overloaded" ? OVERLOADED_MS : AGAIN_MS };
    }
  }

  /**
   * Looks up the outcome of an unanswered command. Throws `unavailable` when it was not carried
   * out, `outcome_unknown` when that cannot be found out.
   */
  async #fate(request: { sessionId: string; id: string; deadline: number }): Promise<Outcome> {
    const { runtime, record } = this.#options;
    const patience = this.#askTimeout / 2;
    const until = runtime.monotonic() + patience;
    let cause: unknown;
    for (let left = patience; left > 0; left = until - runtime.monotonic()) {
      const asking = record.fate(request.sessionId, request.id, request.deadline);
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
}

/** The error when nothing was sent. */
function away(): AppError {
  return new AppError("unavailable", "The message bus is not reachable just now.", {
    retryAfter: 2,
  });
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
  return isErrorCode(code) ? code : "internal";
}

/** A notifier that posts through the sender; failures are only logged. */
export function createNotifier(sender: Pick<CommandSender, "post">, log: Log): CommandNotifier {
  return {
    notify(rows) {
      try {
        for (const { id, sessionId, command } of rows) sender.post(sessionId, command, id);
      } catch (error) {
        log.warn(
          { commands: rows.map(({ id }) => id), error: errorMessage(error) },
          "command was not published at once; the sweep will",
        );
      }
    },
  };
}
