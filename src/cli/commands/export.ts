import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { type Command, Option } from "commander";
import { reasonOf } from "../../client/errors.ts";
import { type CommandContext, CommandFailure } from "../client/command-context.ts";
import { withConnectionFlags, withExamples } from "../client/flags.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import { printableText } from "../view/transcript-line.ts";

const FORMATS = ["txt", "md", "srt", "vtt", "json", "rttm"] as const;
type Format = (typeof FORMATS)[number];

interface ExportOptions extends ConnectionOptions {
  readonly format?: Format;
  readonly output?: string;
  readonly force?: boolean;
  readonly raw?: boolean;
  readonly digits?: boolean;
  readonly words?: boolean;
  readonly json?: boolean;
}

/** Time limit of a transcript, milliseconds; one of a whole day takes a while. */
const TRANSCRIPT_MS = 120_000;

/** `voice export`: writes a transcript as text, Markdown, captions, JSON or RTTM. */
export function addExport(program: Command, context: CommandContext): void {
  const command = program
    .command("export")
    .description(
      "a transcript as text, Markdown, captions, JSON or RTTM, to a file or standard output",
    )
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(
      new Option("--format <format>", "default: by the file's name, else txt").choices(FORMATS),
    )
    .option("-o, --output <file>", "into this file; `-` is standard output")
    .option("--force", "also over a file that is there")
    .option("--raw", "the words as recognised, without capitals and sentence marks")
    .option("--digits", "numbers from ten on in digits")
    .option("--words", "each word with its times (JSON)")
    .option("--json", "the same as --format json");
  withExamples(
    withConnectionFlags(command),
    "voice export last                      text to the screen",
    "voice export last -o meeting.srt       captions into a file",
    "voice export last -o meeting.rttm      who spoke when, into a file",
    "voice export last --json --words | jq '.segments[].words | length'",
  ).action((given: string, options: ExportOptions) => exportTranscript(given, options, context));
}

async function exportTranscript(
  given: string,
  options: ExportOptions,
  { env, stdout, stderr }: CommandContext,
): Promise<void> {
  const file = options.output === "-" ? undefined : options.output;
  const format = formatOf(options, file);
  if (file !== undefined && !options.force) refuseExisting(file);
  const user = await openUserSession(options, env);
  const params = { path: { session_id: await sessionIdOf(user, given) } };
  const { status } = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
  const query = {
    format,
    ...(options.raw && { style: "raw" as const }),
    ...(options.digits && { numbers: "digits" as const }),
    ...(options.words && { words: true }),
  };
  const content = await user.call(
    (client) =>
      client.GET("/sessions/{session_id}/transcript", {
        params: { ...params, query },
        parseAs: "text",
      }),
    { timeoutMs: TRANSCRIPT_MS },
  );
  if (status === "recording" || status === "processing") {
    stderr.write(`The session is ${status}: this is its transcript so far.\n`);
  }
  const text = content.endsWith("\n") || content === "" ? content : `${content}\n`;
  if (file !== undefined) {
    write(file, text);
    stderr.write(`Written to ${file}\n`);
  } else stdout.write(stdout.isTTY ? printableText(text) : text);
}

function formatOf({ format, json }: ExportOptions, file: string | undefined): Format {
  if (json) return "json";
  if (format !== undefined) return format;
  const ending = extname(file ?? "")
    .slice(1)
    .toLowerCase();
  return FORMATS.find((each) => each === ending) ?? "txt";
}

function refuseExisting(file: string): void {
  if (!existsSync(file)) return;
  throw new CommandFailure(`${file} is there already; --force writes over it`);
}

/** Writes a file in one step, so that it is never there half done. */
function write(file: string, text: string): void {
  const draft = `${file}.${process.pid}.part`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CommandFailure(`cannot write ${file}: ${reasonOf(error)}`, error);
  }
}
