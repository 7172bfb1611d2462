import { basename } from "node:path";
import type { Command } from "commander";
import { MAX_CHANNELS } from "../../base/audio/wav.ts";
import { PATIENT } from "../../client/back-off.ts";
import { ApiError, reasonOf, Unreachable } from "../../client/errors.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { EXIT } from "../client/exit-codes.ts";
import {
  chooseWorkspace,
  describeChoice,
  parseCount,
  parseSeconds,
  withConnectionFlags,
  withExamples,
} from "../client/flags.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import { filesOf, isFolder } from "../device/file-list.ts";
import { settledFiles } from "../device/folder-watch.ts";
import { type Uploaded, type UploadParts, uploadFile } from "../device/upload-file.ts";
import { UploadLedger } from "../device/upload-ledger.ts";
import { LiveArea, sizeOf } from "../view/live-area.ts";
import { barRow } from "../view/progress-row.ts";
import { retryNotice } from "../view/retry-notice.ts";
import { sized } from "../view/sizes.ts";
import { fitted } from "../view/terminal-text.ts";
import { printable } from "../view/transcript-line.ts";

interface UploadCommandOptions extends ConnectionOptions {
  readonly watch?: boolean;
  readonly every: number;
  readonly again?: boolean;
  readonly workspace?: string;
  readonly title?: string;
  readonly speakerChannels?: number;
  readonly json?: boolean;
}

const EVERY_S = 2;

/** `voice upload`: each file becomes a session; a folder can be watched for new ones. */
export function addUpload(program: Command, context: CommandContext): void {
  const command = program
    .command("upload")
    .description("upload recordings, each as a session; what was uploaded before is left out")
    .argument(
      "<source...>",
      "recordings (WAV, MP3, M4A, MP4, FLAC, Ogg, WebM and others), or folders of them",
    )
    .option("--watch", "go on, and upload what comes into the folder")
    .option("--every <seconds>", "between two polls of it", parseSeconds(0.2, 3_600), EVERY_S)
    .option("--again", "also what was uploaded before")
    .option("--workspace <id>", "workspace to join (default: your oldest)")
    .option("--title <text>", "title of the session (default: the file's name)")
    .option(
      "--speaker-channels <number>",
      "each of so many channels is one speaker (default: they are mixed)",
      parseCount(2, MAX_CHANNELS),
    )
    .option("--json", "one JSON object for each file");
  withExamples(
    withConnectionFlags(command),
    "voice upload meeting.mp3",
    "voice upload recordings/             again any time: only what is new is sent",
    "voice upload recordings/ --watch",
    "voice upload call.wav --speaker-channels 2    a call with a side on each channel",
    "voice upload a.wav --json | jq -r .session_id | xargs -n1 voice tail --text",
  ).addHelpText(
    "after",
    "\nA file that was sent in part, as of a Ctrl-C, is gone on with by the same command. Files are known by\ntheir content, on this machine.",
  );
  command.action((sources: string[], options: UploadCommandOptions) =>
    upload(sources, options, context),
  );
}

async function upload(
  sources: readonly string[],
  options: UploadCommandOptions,
  context: CommandContext,
): Promise<void> {
  const { env, signal } = context;
  const [folder = "", ...others] = sources;
  if (options.watch && (others.length > 0 || !isFolder(folder))) {
    throw new CommandFailure("--watch takes one folder", undefined, EXIT.usage);
  }
  const files = options.watch ? [] : filesOf(sources);
  if (!options.watch && files.length === 0) {
    throw new CommandFailure(`there is no recording in ${sources.join(", ")}`);
  }
  const user = await openUserSession(options, env, PATIENT);
  const workspace = await chooseWorkspace(user, options.workspace);
  const { id: user_id } = await user.call((client) => client.GET("/auth/me"));
  const owner = { base_url: user.api.baseUrl, user_id, workspace_id: workspace.id };
  const parts = { user, owner, ledger: new UploadLedger(env) };
  const report = reporter(options, context);
  const into = printable(describeChoice(workspace));
  report.say(options.watch ? `Watching ${folder} for ${into}; Ctrl-C ends it.` : `Into ${into}`);
  const source = options.watch ? settledFiles(folder, options.every, signal) : files;
  let failed = 0;
  for await (const file of source) {
    if (signal.aborted) break;
    if (!(await tryOne(parts, file, options, { report, context }))) failed += 1;
  }
  if (failed === 0) return;
  throw new CommandFailure(`${failed === 1 ? "1 file was" : `${failed} files were`} not uploaded`);
}

/** Uploads one file; false when it alone is to blame for its failure, so that others may follow. */
async function tryOne(
  parts: UploadParts,
  file: string,
  { again, title, speakerChannels }: UploadCommandOptions,
  { report, context }: { report: Reporter; context: CommandContext },
): Promise<boolean> {
  const { signal } = context;
  try {
    const uploaded = await uploadFile(parts, file, {
      ...{ signal, again, title, speakerChannels },
      onProgress: (stored, total) => report.progress(file, stored, total),
      onRetry: (error, waitMs) => report.say(retryNotice(error, waitMs)),
    });
    report.done(file, uploaded);
    return true;
  } catch (error) {
    report.clear();
    if (signal.aborted) report.say("Interrupted; the same command goes on where it was.");
    const isOurs = error instanceof Unreachable || (error instanceof ApiError && isHopeless(error));
    if (signal.aborted || isOurs) throw error;
    report.fail(file, error instanceof ApiError ? error.said : reasonOf(error));
    return false;
  }
}

/** True when no other file would fare better. */
function isHopeless({ status }: ApiError): boolean {
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

interface Reporter {
  say(text: string): void;
  progress(file: string, stored: number, total: number): void;
  done(file: string, uploaded: Uploaded): void;
  fail(file: string, reason: string): void;
  clear(): void;
}

const STATES = { sent: "", resumed: ", gone on with", known: ", was uploaded before" } as const;

/** Bars on a terminal, plain lines elsewhere; with --json the lines go to standard error. */
function reporter({ json }: UploadCommandOptions, { stdout, stderr }: CommandContext): Reporter {
  const output = json ? stderr : stdout;
  const area = output.isTTY ? new LiveArea(output) : undefined;
  const write = (row: string) => {
    if (area) area.show([row]);
    else output.write(`${row}\n`);
  };
  const name = (file: string) => printable(basename(file));
  return {
    say: (text) => write(printable(text)),
    progress: (file, stored, total) => {
      const { columns } = sizeOf(output);
      const figures = `${sized(stored)} / ${sized(total)}`;
      const label = fitted(name(file), Math.floor(columns / 3));
      area?.show([], [barRow(label, total > 0 ? stored / total : 0, figures, columns)]);
    },
    done: (file, { sessionId, seconds, state }) => {
      area?.show([], []);
      if (json) return writeJson(stdout, { file, session_id: sessionId, seconds, state });
      write(`${name(file)}  ${clockTime(seconds)}  session ${sessionId}${STATES[state]}`);
    },
    fail: (file, reason) => {
      area?.show([], []);
      stderr.write(`${name(file)}: ${printable(reason)}\n`);
    },
    clear: () => area?.show([], []),
  };
}
