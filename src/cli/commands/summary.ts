import { type Command, Option } from "commander";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { withConnectionFlags, withExamples } from "../client/flags.ts";
import { endOfJob, type Job } from "../client/job-wait.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import type { operations } from "../gen/api-schema.ts";
import { LiveArea, sizeOf } from "../view/live-area.ts";
import { barRow } from "../view/progress-row.ts";
import { wrapped } from "../view/terminal-text.ts";
import { printable } from "../view/transcript-line.ts";

type Page = operations["listSummaries"]["responses"]["200"]["content"]["application/json"];
type Summary = Page["items"][number];
type SummaryType = Summary["summary_type"];

const TYPES = [
  "brief",
  "detailed",
  "action_items",
  "decisions",
  "topics",
  "open_questions",
  "speakers",
] as const;

interface SummaryOptions extends ConnectionOptions {
  readonly type: SummaryType;
  readonly fresh?: boolean;
  readonly wait: boolean;
  readonly json?: boolean;
}

/** `voice summary`: shows a session's summary of a type, and has it made first where it is not. */
export function addSummary(program: Command, context: CommandContext): void {
  const command = program
    .command("summary")
    .description("sum a session up: made where there is none yet, or the words have changed since")
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(new Option("--type <type>", "what of it").choices(TYPES).default("brief"))
    .option("--fresh", "make it anew in any case")
    .option("--no-wait", "ask for it, and do not wait until it is ready")
    .option("--json", "one JSON object");
  withExamples(
    withConnectionFlags(command),
    "voice summary last",
    "voice summary last --type action_items",
    "voice summary last --type decisions --json | jq -r '.items[].text'",
  ).action((given: string, options: SummaryOptions) => summarise(given, options, context));
}

async function summarise(
  given: string,
  options: SummaryOptions,
  context: CommandContext,
): Promise<void> {
  const { env, stdout } = context;
  const user = await openUserSession(options, env);
  const sessionId = await sessionIdOf(user, given);
  const known = options.fresh ? undefined : await newest(user, sessionId, options.type);
  if (known !== undefined && !known.stale) return show(known, options, context);
  const params = { path: { session_id: sessionId } };
  const body = { summary_type: options.type };
  const job = await user.call((client) =>
    client.POST("/sessions/{session_id}/summaries", { params, body }),
  );
  if (!options.wait) {
    if (options.json) writeJson(stdout, job);
    else stdout.write("The summary is being made.\n");
    return;
  }
  await ready(user, job.id, context);
  const made = await newest(user, sessionId, options.type);
  if (made === undefined) throw new CommandFailure("the summary is gone again");
  show(made, options, context);
}

async function newest(
  user: UserSession,
  sessionId: string,
  type: SummaryType,
): Promise<Summary | undefined> {
  const params = { path: { session_id: sessionId } };
  const { items } = await user.call((client) =>
    client.GET("/sessions/{session_id}/summaries", { params }),
  );
  return items.find(({ summary_type }) => summary_type === type);
}

/** Waits until the summary is made, with a bar on a terminal. */
async function ready(user: UserSession, id: string, context: CommandContext): Promise<void> {
  const { stderr, signal } = context;
  const area = stderr.isTTY ? new LiveArea(stderr) : undefined;
  const bar = ({ status, progress }: Job) => {
    const figures = status === "queued" ? "waiting" : `${Math.round(100 * progress)} %`;
    area?.show([], [barRow("summary", progress, figures, sizeOf(stderr).columns)]);
  };
  const wait = { signal, what: "the work at the summary", onProgress: bar };
  const job = await endOfJob(user, id, wait).finally(() => area?.show([], []));
  if (job.status === "completed") return;
  const why = job.error === "" ? "" : `: ${printable(job.error)}`;
  throw new CommandFailure(`the summary is ${job.status}${why}`);
}

function show(summary: Summary, { json }: SummaryOptions, { stdout }: CommandContext): void {
  if (json) return writeJson(stdout, summary);
  const columns = stdout.isTTY ? sizeOf(stdout).columns - 1 : Number.POSITIVE_INFINITY;
  const rows = summary.text.split("\n").flatMap((line) => wrapped(printable(line), columns));
  stdout.write(`${rows.join("\n")}\n`);
}
