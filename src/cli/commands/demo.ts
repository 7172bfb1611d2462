import { join } from "node:path";
import { type Command, Option } from "commander";
import { PATIENT } from "../../client/back-off.ts";
import { reasonOf } from "../../client/errors.ts";
import { type CommandContext, CommandFailure, wantsColour } from "../client/command-context.ts";
import { parseDuration, parseSpeed, withConnectionFlags } from "../client/flags.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { DeviceShelf } from "../device/device-shelf.ts";
import { readRecordings } from "../device/recording-file.ts";
import { type SimulationOptions, simulateDevice } from "../device/simulate-device.ts";
import { durationSeconds } from "../device/wave-file.ts";
import { sizeOf } from "../view/live-area.ts";
import { PlainView } from "../view/plain-view.ts";
import { progressRow } from "../view/progress-row.ts";
import { TerminalView } from "../view/terminal-view.ts";
import type { Transcript } from "../view/transcript.ts";
import { followSession } from "./follow-session.ts";

/** Path of the shipped conversation. */
export const CONVERSATION = join(import.meta.dirname, "../../../deploy/demo/conversation.wav");

/**
 * Time limit from the last upload to the completed transcript, milliseconds; a healthy service
 * needs a few seconds.
 */
const FINISH_LIMIT_MS = 120_000;

interface DemoOptions extends ConnectionOptions {
  readonly chunk: number;
  readonly speed: number;
  readonly workspace?: string;
}

/**
 * `voice demo`: a device plays the shipped conversation while the terminal shows its transcript.
 */
export function addDemo(program: Command, context: CommandContext): void {
  const command = program
    .command("demo")
    .description("stream the shipped conversation and watch its transcript grow")
    .addOption(
      new Option("--chunk <length>", "audio in each upload")
        .argParser(parseDuration)
        .default(0.5, "500ms"),
    )
    .option("--speed <factor>", "1 is real time; max sends as fast as it goes", parseSpeed, 1)
    .option("--workspace <id>", "workspace to join (default: your oldest)");
  withConnectionFlags(command).action((options: DemoOptions) => demo(options, context));
}

async function demo(options: DemoOptions, context: CommandContext): Promise<void> {
  const { env, stdout } = context;
  const recordings = await readRecordings([CONVERSATION]);
  const total = recordings.reduce((sum, audio) => sum + durationSeconds(audio), 0);
  const user = await openUserSession(options, env, PATIENT);
  const view = stdout.isTTY
    ? new TerminalView(stdout, wantsColour(context))
    : new PlainView(stdout);
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  let sent = 0;
  let following: Promise<Transcript> | undefined;
  const notify = (error: unknown) => view.say(`${reasonOf(error)}; trying again`);
  const follow = (sessionId: string) => {
    stdout.write(
      `A demo device streams a conversation of ${Math.round(total)} s: session ${sessionId}\n\n`,
    );
    const footer = () => {
      if (sent >= total) return "audio sent, finishing …";
      return progressRow(sent, total, sizeOf(stdout).columns);
    };
    following = followSession(user, { sessionId, signal, view, footer, onReconnect: notify });
    // When the view fails, streaming stops too; the error is reported below.
    following.catch(() => stop.abort());
  };
  try {
    const { sessionId } = await simulateDevice(
      { user, shelf: new DeviceShelf(env) },
      recordings,
      settingsOf(options),
      {
        signal,
        onStarted: ({ id }) => follow(id),
        onProgress: ({ seconds }) => {
          sent = seconds;
        },
        onRetry: notify,
      },
    );
    const limit = setTimeout(() => stop.abort(), FINISH_LIMIT_MS);
    const transcript = await following?.finally(() => clearTimeout(limit));
    if (transcript) stdout.write(summary(transcript, sessionId, user));
    if (transcript?.status === "completed" || context.signal.aborted) return;
    throw new CommandFailure(
      `the transcript of session ${sessionId} is ${transcript?.status}, not completed; \`voice doctor\` says what is wrong`,
    );
  } catch (error) {
    stop.abort();
    // When the view failed, the device was only interrupted, so the view's error is thrown.
    await following;
    throw error;
  }
}

function settingsOf({ chunk, speed, workspace }: DemoOptions): SimulationOptions {
  return {
    ...{ files: [CONVERSATION], title: "Demo: planning a launch" },
    ...{ codec: "wav", chunkSeconds: chunk, speed, loss: 0, workspace },
  };
}

function summary(transcript: Transcript, sessionId: string, user: UserSession): string {
  const { wordCount, speakers, status } = transcript;
  const voices = speakers.length === 1 ? "speaker" : "speakers";
  return [
    "",
    `${wordCount} words, ${speakers.length} ${voices} (${speakers.join(", ")}), ${status}: session ${sessionId}`,
    "Next, in another terminal:",
    `  npx voice login --base-url ${user.api.baseUrl}`,
    `  npx voice tail ${sessionId}`,
    "  npx voice device simulate FILE",
    "",
  ].join("\n");
}
