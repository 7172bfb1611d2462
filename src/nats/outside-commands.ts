import type { Backlog } from "../actor/backlog.ts";
import { AppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { SessionCommand } from "../session/command.ts";
import type { DeviceSigns } from "../session/device-signs.ts";
import { tryOutsideCommand } from "../session/outside-command.ts";
import type { CommandEnvelope } from "../wire/envelope.ts";

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
