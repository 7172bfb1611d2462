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

/** Has commands from outside carried out, once it is certain that they are some. */
export function deliverTo(host: Sessions, log: Log): (command: Delivered) => Promise<unknown> {
  return ({ id, sessionId, command: value, deadline }) => {
    const command = tryOutsideCommand(value);
    if (command !== undefined) return host.deliver(sessionId, command, id, deadline);
    log.error({ session_id: sessionId, command: String(value.type) }, "unknown command dropped");
    return Promise.reject(new AppError("bad_request", "This command is not known."));
  };
}

/** The commands to a session that nobody finished. */
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

/** Whether its audio may still come is nothing that a session's own state tells. */
export function informedBy(
  signs: DeviceSigns,
): (sessionId: string, command: SessionCommand) => Promise<SessionCommand> {
  return async (sessionId, command) => {
    if (command.type !== "GapTimeout" && command.type !== "LateTimeout") return command;
    return { ...command, signs: await signs.of(sessionId) };
  };
}
