import type { Command } from "commander";
import { PATIENT } from "../client/back-off.ts";
import { type CommandContext, wantsColour, writeJson } from "../client/command-context.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import type { TranscriptView } from "../view/plain-view.ts";
import { TerminalView } from "../view/terminal-view.ts";
import { followSession } from "./follow-session.ts";
import { readSuggestions } from "./speakers.ts";

/** `voice tail`: follows a session live until it has ended. */
export function addTail(program: Command, context: CommandContext): void {
  const command = program
    .command("tail")
    .description("follow a session's transcript live; frames as NDJSON when piped")
    .argument("<session>", SESSION_ARGUMENT);
  withConnectionFlags(command).action((sessionId: string, options: ConnectionOptions) =>
    tail(sessionId, options, context),
  );
}

async function tail(
  given: string,
  options: ConnectionOptions,
  context: CommandContext,
): Promise<void> {
  const { env, stdout, signal } = context;
  const user = await openUserSession(options, env, PATIENT);
  const sessionId = await sessionIdOf(user, given);
  const view = stdout.isTTY ? new TerminalView(stdout, wantsColour(context)) : frameView(context);
  const transcript = await followSession(user, {
    ...{ sessionId, signal, view },
    onFrame: stdout.isTTY ? undefined : (frame) => writeJson(stdout, frame),
    onWaiting: stdout.isTTY ? undefined : (message) => view.say(message),
    onReconnect: (reason, waitMs) =>
      view.say(`${reason}; connecting again in ${(waitMs / 1000).toFixed(1)} s`),
  });
  if (signal.aborted || transcript.status === "deleted") return;
  const output = stdout.isTTY ? stdout : context.stderr;
  for (const row of await readSuggestions(user, sessionId)) output.write(`${row}\n`);
}

/** In a pipe the output consists of the frames only; remarks go to standard error. */
function frameView({ stderr }: CommandContext): TranscriptView {
  return {
    update: () => undefined,
    say: (remark) => void stderr.write(`${remark}\n`),
    close: () => undefined,
  };
}
