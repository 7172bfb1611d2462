import { type Command, Option } from "commander";
import { PATIENT } from "../../client/back-off.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { type CommandContext, writeJson } from "../client/command-context.ts";
import {
  describeChoice,
  parseDuration,
  parseShare,
  parseSpeed,
  withConnectionFlags,
} from "../client/flags.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import type { ChunkCodec } from "../device/audio-chunks.ts";
import { DeviceShelf } from "../device/device-shelf.ts";
import { readRecordings } from "../device/recording-file.ts";
import { type SimulationEvents, simulateDevice } from "../device/simulate-device.ts";
import { LiveArea, sizeOf } from "../view/live-area.ts";
import { progressRow } from "../view/progress-row.ts";
import { retryNotice } from "../view/retry-notice.ts";
import { printable } from "../view/transcript-line.ts";

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
export function addSimulate(device: Command, context: CommandContext): void {
  const simulate = device
    .command("simulate")
    .description("stream recordings as one session of a simulated device, one after another")
    .argument("<file...>", "WAV, FLAC, MP3, Ogg (Opus, Vorbis) or WebM (Opus) files, 8 to 96 kHz")
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
    .option("--workspace <id>", "workspace to join (default: your oldest)")
    .option("--title <text>", "title of the session (default: the files' names)");
  withConnectionFlags(simulate)
    .addHelpText(
      "after",
      "\nThe device is paired the first time, and found again by later runs here.",
    )
    .action((files: string[], options: SimulateOptions) => run(files, options, context));
}

async function run(
  files: string[],
  options: SimulateOptions,
  context: CommandContext,
): Promise<void> {
  const { env, stdout } = context;
  const recordings = await readRecordings(files);
  const user = await openUserSession(options, env, PATIENT);
  const settings = { ...options, files, chunkSeconds: options.chunk };
  const parts = { user, shelf: new DeviceShelf(env) };
  const events = stdout.isTTY ? barEvents(context) : jsonEvents(context);
  try {
    const { sessionId, ...sent } = await simulateDevice(parts, recordings, settings, events);
    events.end();
    const { chunks, seconds, lost } = sent;
    const summary = { event: "stopped", session_id: sessionId, chunks, seconds, lost };
    if (!stdout.isTTY) return writeJson(stdout, summary);
    const losses = lost > 0 ? `, ${lost} lost on the way and sent again` : "";
    const how = options.stream ? "as a stream" : `in ${chunks} chunks`;
    stdout.write(
      `Sent ${clockTime(seconds)} of audio ${how}${losses}.\n` +
        `Follow or read it: voice tail ${sessionId}\n`,
    );
  } finally {
    events.end();
  }
}

type Events = SimulationEvents & { readonly end: () => void };

/** Shows a progress row, with messages above it. */
function barEvents({ stdout, signal }: CommandContext): Events {
  const area = new LiveArea(stdout);
  let length = 0;
  const row = (sent: number) => progressRow(sent, length, sizeOf(stdout).columns);
  return {
    signal,
    onStarted: ({ id, workspace, seconds }) => {
      length = seconds;
      const where = `Session ${id} is recording in ${describeChoice(workspace)}.`;
      area.show([printable(where)], [row(0)]);
    },
    onProgress: ({ seconds }) => area.show([], [row(seconds)]),
    onRetry: (error, waitMs) => area.show([printable(retryNotice(error, waitMs))]),
    onAccessEnded: (reason) => area.show([printable(endNotice(reason))]),
    end: () => area.show([], []),
  };
}

function jsonEvents({ stdout, stderr, signal }: CommandContext): Events {
  return {
    signal,
    onStarted: ({ id, deviceId, workspace, seconds }) => {
      const place = { session_id: id, device_id: deviceId, workspace_id: workspace.id };
      writeJson(stdout, { event: "started", ...place, seconds });
    },
    onProgress: (progress) => writeJson(stdout, { event: "sent", ...progress }),
    onRetry: (error, waitMs) => stderr.write(`${retryNotice(error, waitMs)}\n`),
    onAccessEnded: (reason) => {
      stderr.write(`${printable(endNotice(reason))}\n`);
      writeJson(stdout, { event: "access_ended" });
    },
    end: () => undefined,
  };
}

function endNotice(reason: string): string {
  return `Your access ended; bringing what was recorded until now. The service says: ${reason}`;
}
