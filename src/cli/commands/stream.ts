import { basename } from "node:path";
import type { Command } from "commander";
import { PATIENT } from "../../client/back-off.ts";
import { clockTime } from "../../wire/clock-time.ts";
import {
  type CommandContext,
  CommandFailure,
  wantsColour,
  writeJson,
} from "../client/command-context.ts";
import { EXIT } from "../client/exit-codes.ts";
import {
  chooseWorkspace,
  describeChoice,
  parseCount,
  parseSeconds,
  parseSpeed,
  withConnectionFlags,
  withExamples,
} from "../client/flags.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { DeviceShelf } from "../device/device-shelf.ts";
import { filesOf, isReadHere } from "../device/file-list.ts";
import { streamLive } from "../device/live-recording.ts";
import { openMicrophone } from "../device/microphone.ts";
import { pacedRecordings } from "../device/paced-recordings.ts";
import { type PcmSource, readPcm } from "../device/pcm-source.ts";
import { readRecordings } from "../device/recording-file.ts";
import { startRecording } from "../device/simulated-device.ts";
import { unpair, type VirtualDevice } from "../device/virtual-device.ts";
import { PlainView, type TranscriptView } from "../view/plain-view.ts";
import { retryNotice } from "../view/retry-notice.ts";
import { TerminalView } from "../view/terminal-view.ts";
import { printable } from "../view/transcript-line.ts";
import { followSession } from "./follow-session.ts";

interface StreamOptions extends ConnectionOptions {
  readonly microphone?: boolean;
  readonly rate?: number;
  readonly channels?: number;
  readonly speed: number;
  readonly seconds?: number;
  readonly follow?: boolean;
  readonly workspace?: string;
  readonly title?: string;
  readonly json?: boolean;
}

/** After Ctrl-C: time for what was recorded to be stored and for the session to be stopped. */
const FAREWELL_MS = 15_000;

/** `voice device stream`: this machine as a device that records. */
export function addStream(device: Command, context: CommandContext): void {
  const command = device
    .command("stream")
    .description("record with this machine: a microphone, standard input, files or a folder")
    .argument("[source...]", "files, one folder, or `-` for standard input")
    .option("--microphone", "the default microphone, through arecord, rec or sox")
    .option("--rate <hz>", "of raw 16-bit samples on standard input", parseCount(8_000, 48_000))
    .option("--channels <count>", "of raw samples (default: 1)", parseCount(1, 2))
    .option("--speed <factor>", "of files: 1 is real time; max as fast as it goes", parseSpeed, 1)
    .option("--seconds <count>", "end the recording after so long", parseSeconds(0.1, 86_400))
    .option("--follow", "show the words as they are recognised")
    .option("--workspace <id>", "workspace to join (default: your oldest)")
    .option("--title <text>", "title of the session")
    .option("--json", "what happens as NDJSON");
  withExamples(
    withConnectionFlags(command),
    "voice device stream --microphone --follow           Ctrl-C ends it; all of it is kept",
    "voice device stream meeting.mp3 --speed max",
    "ffmpeg -i talk.mp4 -f wav - | voice device stream -",
    "arecord -f S16_LE -r 16000 -t raw | voice device stream - --rate 16000",
  ).action((sources: string[], options: StreamOptions) => stream(sources, options, context));
}

async function stream(
  sources: readonly string[],
  options: StreamOptions,
  context: CommandContext,
): Promise<void> {
  if (options.json && options.follow) {
    throw usage("--follow shows text; beside --json use voice tail in another terminal");
  }
  const { env, stdout } = context;
  const user = await openUserSession(options, env, PATIENT);
  const end = endings(context.signal);
  const input = await open(sources, options, context, end.soft);
  end.soft.addEventListener("abort", () => input.stop(), { once: true });
  try {
    const workspace = await chooseWorkspace(user, options.workspace);
    const wanted = {
      workspaceId: workspace.id,
      title: (options.title ?? input.title).slice(0, 200),
    };
    const onRetry = (error: unknown, waitMs: number) =>
      say(retryNotice(error, waitMs), options, context);
    const shelf = new DeviceShelf(env);
    const started = await startRecording({ user, shelf, onRetry }, wanted);
    const { device, sessionId, isKept } = started;
    report({ event: "started", session_id: sessionId, device_id: device.id }, options, context);
    const where = printable(describeChoice(workspace));
    if (!options.json) stdout.write(`Session ${sessionId} is recording in ${where}.\n`);
    try {
      await record({ user, device, sessionId, input, end }, options, context);
    } finally {
      if (!isKept) await unpair(user, device.id).catch(() => undefined);
    }
  } finally {
    end.release();
    input.stop();
  }
}

interface Endings {
  /** Aborted by Ctrl-C: the recording ends as if it were over. */
  readonly soft: AbortSignal;
  /** Aborted when that took too long, or nothing more is to be done. */
  readonly hard: AbortSignal;
  abandon(): void;
  release(): void;
}

function endings(interrupt: AbortSignal): Endings {
  const soft = new AbortController();
  const hard = new AbortController();
  let limit: NodeJS.Timeout | undefined;
  const onInterrupt = () => {
    soft.abort();
    limit = setTimeout(() => hard.abort(), FAREWELL_MS);
  };
  interrupt.addEventListener("abort", onInterrupt, { once: true });
  return {
    ...{ soft: soft.signal, hard: hard.signal },
    abandon: () => hard.abort(),
    release: () => {
      clearTimeout(limit);
      interrupt.removeEventListener("abort", onInterrupt);
    },
  };
}

interface Recording {
  readonly user: UserSession;
  readonly device: VirtualDevice;
  readonly sessionId: string;
  readonly input: Input;
  readonly end: Endings;
}

/** Streams the input to its end, and stops the session in any case. */
async function record(
  { user, device, sessionId, input, end }: Recording,
  options: StreamOptions,
  context: CommandContext,
): Promise<void> {
  const words = options.follow ? follow(user, sessionId, end.hard, context) : undefined;
  // Awaited below; a failure of the stream is told first.
  words?.catch(() => undefined);
  try {
    const seconds = await streamLive(device, sessionId, input.source, {
      signal: end.hard,
      stop: end.soft,
      mostSeconds: options.seconds,
      onStored: (stored) => report({ event: "sent", seconds: stored }, options, context),
      onAccessEnded: (reason) =>
        say(`Your access ended; bringing what was recorded. ${reason}`, options, context),
    });
    await device.stopSession(sessionId, undefined, end.hard);
    report({ event: "stopped", session_id: sessionId, seconds }, options, context);
    await words;
    if (!options.json) context.stdout.write(farewell(sessionId, seconds, options));
  } catch (error) {
    await device
      .stopSession(sessionId, undefined, AbortSignal.timeout(FAREWELL_MS))
      .catch(() => undefined);
    throw error;
  } finally {
    end.abandon();
  }
}

interface Input {
  readonly source: PcmSource;
  readonly title: string;
  /** Lets go of what the sound comes from. */
  stop(): void;
}

/** Opens what the sound comes from, before anything is begun at the service. */
async function open(
  sources: readonly string[],
  options: StreamOptions,
  { env, stdin }: CommandContext,
  end: AbortSignal,
): Promise<Input> {
  const isInput = sources.length === 1 && sources[0] === "-";
  if ((options.microphone === true) === sources.length > 0 || (sources.includes("-") && !isInput)) {
    throw usage("name files or one folder, or `-` for standard input, or give --microphone");
  }
  if (!isInput && (options.rate !== undefined || options.channels !== undefined)) {
    throw usage("--rate and --channels are for raw samples on standard input");
  }
  if (options.microphone) {
    const microphone = await openMicrophone(env);
    return { ...microphone, title: "Microphone" };
  }
  if (isInput) {
    const { rate, channels = 1 } = options;
    const raw = rate === undefined ? undefined : { sampleRate: rate, channels };
    const stop = () => void stdin.destroy();
    end.addEventListener("abort", stop, { once: true });
    return { source: await readPcm(stdin, raw), title: "Standard input", stop };
  }
  const files = filesOf(sources, isReadHere);
  if (files.length === 0) throw new CommandFailure(`there is no sound in ${sources.join(", ")}`);
  const recordings = await readRecordings(files);
  const source = pacedRecordings(recordings, options.speed, end);
  return { source, title: files.map((file) => basename(file)).join(", "), stop: () => undefined };
}

function usage(message: string): CommandFailure {
  return new CommandFailure(message, undefined, EXIT.usage);
}

/** Shows the session's words until it has ended. */
async function follow(
  user: UserSession,
  sessionId: string,
  signal: AbortSignal,
  context: CommandContext,
): Promise<void> {
  const { stdout } = context;
  const view: TranscriptView = stdout.isTTY
    ? new TerminalView(stdout, wantsColour(context))
    : new PlainView(stdout);
  await followSession(user, { sessionId, signal, view });
}

/** Says something beside the words, or beside the NDJSON. */
function say(text: string, { json, follow: isFollowed }: StreamOptions, context: CommandContext) {
  const output = json || isFollowed ? context.stderr : context.stdout;
  output.write(`${printable(text)}\n`);
}

function report(event: object, { json }: StreamOptions, { stdout }: CommandContext): void {
  if (json) writeJson(stdout, event);
}

function farewell(sessionId: string, seconds: number, options: StreamOptions): string {
  const sent = `Recorded ${clockTime(seconds)}; all of it is stored.\n`;
  return options.follow ? sent : `${sent}Follow or read it: voice tail ${sessionId}\n`;
}
