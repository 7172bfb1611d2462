import type { Command } from "commander";
import { PATIENT } from "../../client/back-off.ts";
import type { ServerFrame } from "../../wire/live-frames.ts";
import { type CommandContext, wantsColour, writeJson } from "../client/command-context.ts";
import { withConnectionFlags, withExamples } from "../client/flags.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import { PlainView, type TranscriptView } from "../view/plain-view.ts";
import { engineText } from "../view/session-rows.ts";
import { TerminalView } from "../view/terminal-view.ts";
import { followSession } from "./follow-session.ts";
import { readSuggestions } from "./speakers.ts";

type TailOptions = ConnectionOptions & { json?: boolean; text?: boolean };

/** `voice tail`: follows a session live until it has ended. */
export function addTail(program: Command, context: CommandContext): void {
  const command = program
    .command("tail")
    .description("follow a session's transcript live; frames as NDJSON when piped")
    .argument("<session>", SESSION_ARGUMENT)
    .option("--json", "frames as NDJSON, also on a terminal")
    .option("--text", "lines of text, also in a pipe");
  withExamples(
    withConnectionFlags(command),
    "voice tail last",
    "voice tail last --text | tee meeting.txt",
    "voice tail last | jq -r 'select(.is_final) | .transcript'",
  ).action((sessionId: string, options: TailOptions) => tail(sessionId, options, context));
}

async function tail(given: string, options: TailOptions, context: CommandContext): Promise<void> {
  const { env, stdout, stderr, signal } = context;
  const user = await openUserSession(options, env, PATIENT);
  const sessionId = await sessionIdOf(user, given);
  const isJson = options.json === true || (!stdout.isTTY && !options.text);
  const view = isJson ? remarksOnly(context) : textView(context);
  const isRedrawn = !isJson && stdout.isTTY === true;
  let engine: string | undefined;
  const hear = (frame: ServerFrame) => {
    if (isJson) writeJson(stdout, frame);
    const named = engineIn(frame) ?? engine;
    if (!isJson && named !== engine) view.say(`Read by ${named}.`);
    engine = named;
  };
  const transcript = await followSession(user, {
    ...{ sessionId, signal, view },
    onFrame: hear,
    onWaiting: isRedrawn ? undefined : (message) => view.say(message),
    onReconnect: (reason, waitMs) =>
      view.say(`${reason}; connecting again in ${(waitMs / 1000).toFixed(1)} s`),
  });
  if (signal.aborted || transcript.status === "deleted") return;
  const output = isJson ? stderr : stdout;
  for (const row of await readSuggestions(user, sessionId)) output.write(`${row}\n`);
}

function textView(context: CommandContext): TranscriptView {
  const { stdout } = context;
  return stdout.isTTY ? new TerminalView(stdout, wantsColour(context)) : new PlainView(stdout);
}

/** The output then consists of the frames only; remarks go to standard error. */
function remarksOnly({ stderr }: CommandContext): TranscriptView {
  return {
    update: () => undefined,
    say: (remark) => void stderr.write(`${remark}\n`),
    close: () => undefined,
  };
}

/** The engine that a frame names, with the mark of one to which the sound leaves. */
function engineIn(frame: ServerFrame): string | undefined {
  if (frame.type === "Snapshot") return engineText(frame.session);
  return frame.type === "JobStatus" && "engine" in frame ? engineText(frame) : undefined;
}
