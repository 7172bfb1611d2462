import cliProgress from "cli-progress";
import { type Command, Option } from "commander";
import type { ChunkCodec } from "../audio-chunks.ts";
import { type CommandContext, writeJson } from "../command-context.ts";
import { reasonOf } from "../command-failure.ts";
import { withConnectionFlags } from "../connection-flags.ts";
import { parseDuration, parseShare, parseSpeed } from "../flag-values.ts";
import { readRecordings, type SimulationEvents, simulateDevice } from "../simulate-device.ts";
import { clockTime } from "../transcript-line.ts";
import { type ConnectionOptions, openUserSession } from "../user-session.ts";

interface SimulateOptions extends ConnectionOptions {
  readonly codec: ChunkCodec;
  readonly chunk: number;
  readonly speed: number;
  readonly loss: number;
  readonly stream?: boolean;
  readonly workspace?: string;
  readonly title?: string;
}

/** `voice device simulate`: plays files as a hardware device would send them. */
export function addDevice(program: Command, context: CommandContext): void {
  const device = program.command("device").description("devices made of software");
  const simulate = device
    .command("simulate")
    .description("pair a simulated device and stream WAV files as one session, one after another")
    .argument("<file...>", "WAV files: 16, 24 or 32 bit PCM or 32 bit float")
    .addOption(
      new Option("--codec <codec>", "each chunk a WAV file, or raw 16 bit PCM")
        .choices(["wav", "pcm"])
        .default("wav"),
    )
    .addOption(
      new Option("--chunk <length>", "audio in each upload, for example 500ms")
        .argParser(parseDuration)
        .default(2, "2s"),
    )
    .option("--stream", "one WebSocket stream instead of uploads; --loss then cuts connections")
    .option("--speed <factor>", "1 is real time; max sends as fast as it goes", parseSpeed, 1)
    .option("--loss <share>", "share of transmissions that get lost, 0.02 or 2%", parseShare, 0)
    .option("--workspace <id>", "workspace to join (default: your first)")
    .option("--title <text>", "title of the session (default: the files' names)");
  withConnectionFlags(simulate).action((files: string[], options: SimulateOptions) =>
    run(files, options, context),
  );
}

async function run(
  files: string[],
  options: SimulateOptions,
  context: CommandContext,
): Promise<void> {
  const recordings = readRecordings(files);
  const user = await openUserSession(options, context.env);
  const settings = { ...options, files, chunkSeconds: options.chunk };
  const events = context.stdout.isTTY ? barEvents(context) : jsonEvents(context);
  try {
    const { sessionId, chunks, seconds, lost } = await simulateDevice(
      user,
      recordings,
      settings,
      events,
    );
    events.end();
    const summary = { event: "stopped", session_id: sessionId, chunks, seconds, lost };
    if (!context.stdout.isTTY) return writeJson(context.stdout, summary);
    const losses = lost > 0 ? `, ${lost} lost on the way and sent again` : "";
    const how = options.stream ? "as a stream" : `in ${chunks} chunks`;
    context.stdout.write(
      `Sent ${clockTime(seconds)} of audio ${how}${losses}.\n` +
        `Follow or read it: voice tail ${sessionId}\n`,
    );
  } finally {
    events.end();
  }
}

type Events = SimulationEvents & { readonly end: () => void };

function barEvents({ stdout, stderr, signal }: CommandContext): Events {
  const bar = new cliProgress.SingleBar({
    stream: stdout,
    format: "audio  {bar}  {clock} / {length}",
    barCompleteChar: "█",
    barIncompleteChar: "░",
    hideCursor: true,
  });
  let length = "";
  return {
    signal,
    onStarted: ({ id, seconds }) => {
      length = clockTime(seconds);
      stdout.write(`Session ${id} is recording.\n`);
      bar.start(seconds, 0, { clock: clockTime(0), length });
    },
    onProgress: ({ seconds }) => bar.update(seconds, { clock: clockTime(seconds), length }),
    onRetry: (error, waitMs) => stderr.write(retryNotice(error, waitMs)),
    end: () => bar.stop(),
  };
}

function jsonEvents({ stdout, stderr, signal }: CommandContext): Events {
  return {
    signal,
    onStarted: ({ id, deviceId, seconds }) =>
      writeJson(stdout, { event: "started", session_id: id, device_id: deviceId, seconds }),
    onProgress: (progress) => writeJson(stdout, { event: "sent", ...progress }),
    onRetry: (error, waitMs) => stderr.write(retryNotice(error, waitMs)),
    end: () => undefined,
  };
}

function retryNotice(error: unknown, waitMs: number): string {
  return `${reasonOf(error)}; trying again in ${(waitMs / 1000).toFixed(1)} s\n`;
}
