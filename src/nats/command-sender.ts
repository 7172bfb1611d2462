import type { ActorCommand, ActorRef } from "../actor/actor.ts";
import type { CommandRecord, Outcome } from "../actor/journal.ts";
import { withTimeout } from "../base/deferred.ts";
import {
  AppError,
  ERROR_STATUS,
  type ErrorCode,
  errorMessage,
  toAppError,
} from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { Runtime } from "../base/runtime.ts";
import type { CommandNotifier } from "../postgres/outbox.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeJson,
  encodeJson,
} from "../wire/envelope.ts";
import { hostSubject, OWNERS_CHANGED } from "../wire/subjects.ts";
import type { Line } from "./line.ts";
import type { PartitionOwners } from "./partition-owners.ts";

/** Commands that may wait for their answer at once. */
const MAX_PENDING = 2_000;
/** How long a wish may take, milliseconds. */
const ASK_TIMEOUT = 8_000;
/** Without an answer for so long it is asked again: its host may be gone. */
const TRY_MS = 2_000;
/** Before a wish is sent again, milliseconds. */
const AGAIN_MS = 100;
/** The same to one who has too much to do. */
const OVERLOADED_MS = 500;
/** Between two questions to the record, milliseconds. */
const RECORD_PAUSE = 100;
/** Posted commands that the server has not been seen to take yet. */
const MAX_POSTED = 10_000;

interface CommandSenderOptions {
  line: Line;
  owners: PartitionOwners;
  record: CommandRecord;
  runtime: Runtime;
  /**
   * How long a wish may take, milliseconds; the record is then asked for half as long again what
   * became of it.
   */
  askTimeout?: number;
}

/**
 * Sends commands to the hosts of their sessions. One that is sent is only under way; what must not
 * be lost is in the outbox table as well.
 */
export class CommandSender implements ActorRef, QueueOwner {
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
    // Whether a wish is done the record knows, as long as there is time to ask it.
    this.#stopped.abort();
  }

  /**
   * Hands over a command that is in the outbox table, whose sweep delivers what this loses, and
   * waits for nothing. Throws `unavailable` when the line takes nothing.
   */
  post(sessionId: string, command: ActorCommand, commandId: string): void {
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
    // The sweep has it, where nobody can be read.
    else void owners.of(sessionId).then(send, () => {});
    this.#posted += 1;
    if (!this.#confirming) void this.#confirm();
  }

  /** While NATS is away this waits, and what is posted meanwhile is in memory. */
  async #confirm(): Promise<void> {
    this.#confirming = true;
    try {
      while (this.#posted > 0) {
        const sent = this.#posted;
        await this.#options.line.flush();
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
      if (this.#options.line.isClosed()) throw away();
      const deadline = (await this.#options.record.now()) + this.#askTimeout;
      const wish = { v: 1, id: commandId, sessionId, command, deadline } as const;
      return settle((await this.#replyTo(wish)) ?? (await this.#fate(wish)));
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Sent again, under the same id, as long as there is time. Undefined when none came in time. */
  async #replyTo(wish: CommandEnvelope): Promise<Outcome | undefined> {
    const { runtime } = this.#options;
    const data = encodeJson(wish);
    const until = runtime.monotonic() + this.#askTimeout;
    for (let left = this.#askTimeout; left > 0; left = until - runtime.monotonic()) {
      const answer = await this.#tryOnce(wish.sessionId, data, Math.min(left, TRY_MS));
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
      // Only the record can tell whether an earlier try of it was carried out.
      if (code === "too_late") return { outcome: undefined };
      const error = new AppError(code, message);
      if (error.retryable) throw error;
      return { outcome: { ok: false, code, message } };
    } catch (error) {
      owners.doubt();
      return { again: toAppError(error).code === "overloaded" ? OVERLOADED_MS : AGAIN_MS };
    }
  }

  /** Of a wish that was not answered. Throws when it was not carried out, or nobody can tell. */
  async #fate(wish: { sessionId: string; id: string; deadline: number }): Promise<Outcome> {
    const { runtime, record } = this.#options;
    const patience = this.#askTimeout / 2;
    const until = runtime.monotonic() + patience;
    let cause: unknown;
    for (let left = patience; left > 0; left = until - runtime.monotonic()) {
      const asking = record.fate(wish.sessionId, wish.id, wish.deadline);
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

/** Nothing is under way. */
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
  return code in ERROR_STATUS ? (code as ErrorCode) : "internal";
}

/** Over the sender; what it does not take is a line of the log. */
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
