import type { Backlog } from "../actor/backlog.ts";
import { AppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { SessionCommand } from "../session/command.ts";
import type { DeviceSigns } from "../session/device-signs.ts";
import { tryOutsideCommand } from "../session/outside-command.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeEnvelope,
  encodeJson,
} from "../wire/envelope.ts";
import { hostSubject } from "../wire/subjects.ts";
import type { MessageBus } from "./message-bus.ts";

/** Most commands that are being carried out for the sessions of one host. */
const MAX_UNDER_WAY = 4_096;

/** Carries out a command; settles when its events are durable. */
type Deliver = (envelope: CommandEnvelope) => Promise<unknown>;

interface HostInboxOptions {
  host: string;
  line: Pick<MessageBus, "serve">;
  deliver: Deliver;
  log: Log;
}

/**
 * Receives a host's commands and answers them when their events are durable. It stores none: a
 * command that is refused, or lost with the host, is sent again by its sender, or by the outbox
 * sweep.
 */
export class HostInbox implements QueueOwner {
  readonly #options: HostInboxOptions;
  #stop: (() => void) | undefined;
  #underWay = 0;
  #refused = 0;

  constructor(options: HostInboxOptions) {
    this.#options = options;
  }

  get queues(): readonly QueueFigures[] {
    const length = this.#underWay;
    return [{ queue: "commands", length, limit: MAX_UNDER_WAY, refused: this.#refused }];
  }

  start(): void {
    const { line, host } = this.#options;
    this.#stop ??= line.serve(hostSubject(host), (data) => this.#handle(data));
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  async #handle(data: Uint8Array): Promise<Uint8Array | undefined> {
    const envelope = decodeEnvelope(data);
    if (envelope === undefined) {
      this.#options.log.error({}, "malformed command dropped");
      return undefined;
    }
    if (this.#underWay >= MAX_UNDER_WAY) {
      this.#refused += 1;
      const message = "This host has too many commands to carry out just now.";
      return encodeJson({ id: envelope.id, ok: false, code: "overloaded", message });
    }
    this.#underWay += 1;
    try {
      return encodeJson(await this.#replyTo(envelope));
    } finally {
      this.#underWay -= 1;
    }
  }

  async #replyTo(envelope: CommandEnvelope): Promise<CommandReply> {
    const { id, command } = envelope;
    try {
      return { id, ok: true, value: await this.#options.deliver(envelope) };
    } catch (thrown) {
      const error = toAppError(thrown);
      const { code, message, cause } = error;
      if (code === "overloaded") this.#refused += 1;
      if (code === "internal") {
        const fields = { command: command.type, cause: String(cause) };
        this.#options.log.error(fields, "command failed");
      }
      return { id, ok: false, code, message };
    }
  }
}

type Delivered = Pick<CommandEnvelope, "id" | "sessionId" | "command" | "deadline">;

interface Sessions {
  deliver(
    sessionId: string,
    command: SessionCommand,
    commandId: string,
    deadline?: number,
  ): Promise<unknown>;
}

/** Delivers commands from other processes to their sessions, after checking that they are known. */
export function deliverTo(host: Sessions, log: Log): (command: Delivered) => Promise<unknown> {
  return ({ id, sessionId, command: value, deadline }) => {
    const command = tryOutsideCommand(value);
    if (command !== undefined) return host.deliver(sessionId, command, id, deadline);
    log.error({ session_id: sessionId, command: String(value.type) }, "unknown command dropped");
    return Promise.reject(new AppError("bad_request", "This command is not known."));
  };
}

/** Returns a function that reads a session's unfinished commands from the outbox. */
export function outstandingIn(
  backlog: Pick<Backlog, "commandsTo">,
): (sessionId: string) => Promise<{ id: string; command: SessionCommand }[]> {
  return async (sessionId) => {
    const rows = await backlog.commandsTo(sessionId);
    return rows.flatMap(({ id, command: value }) => {
      const command = tryOutsideCommand(value);
      return command === undefined ? [] : [{ id, command }];
    });
  };
}

/**
 * Adds signs of life of the device to timeouts, because a session's own state does not show whether
 * audio may still come.
 */
export function informedBy(
  signs: DeviceSigns,
): (sessionId: string, command: SessionCommand) => Promise<SessionCommand> {
  return async (sessionId, command) => {
    if (command.type !== "GapTimeout" && command.type !== "LateTimeout") return command;
    return { ...command, signs: await signs.of(sessionId) };
  };
}
