import { type Command, Option } from "commander";
import type { operations } from "../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { withConnectionFlags, withExamples } from "../client/flags.ts";
import { endOfJob, type Job } from "../client/job-wait.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { LiveArea, sizeOf } from "../view/live-area.ts";
import { barRow } from "../view/progress-row.ts";
import { wrapped } from "../view/terminal-text.ts";
import { printable } from "../view/transcript-line.ts";

type Page = operations["listSummaries"]["responses"]["200"]["content"]["application/json"];
type Summary = Page["items"][number];
type SummaryType = Summary["summary_type"];
type SummaryJob = operations["requestSummary"]["responses"]["202"]["content"]["application/json"];
type TemplateId = Page["template"]["id"];

const TEMPLATES = [
  "general",
  "interview",
  "standup",
  "sales_call",
  "lecture",
] as const satisfies readonly TemplateId[];
const TYPES = [
  "brief",
  "detailed",
  "action_items",
  "decisions",
  "topics",
  "open_questions",
  "custom_sections",
  "speakers",
] as const satisfies readonly SummaryType[];

interface SummaryOptions extends ConnectionOptions {
  readonly type: SummaryType;
  readonly template?: TemplateId;
  readonly fresh?: boolean;
  readonly wait: boolean;
  readonly json?: boolean;
}

/**
 * `voice summary`: shows a session's summary of a type, or all that a template arranges, and has it made
 * first where it is not.
 */
export function addSummary(program: Command, context: CommandContext): void {
  const command = program
    .command("summary")
    .description("sum a session up: made where there is none yet, or the words have changed since")
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(new Option("--type <type>", "what of it").choices(TYPES).default("brief"))
    .addOption(
      new Option(
        "--template <template>",
        "arrange its notes by this template from now on, and show all of them",
      )
        .choices(TEMPLATES)
        .conflicts("type"),
    )
    .option("--fresh", "make it anew in any case")
    .option("--no-wait", "ask for it, and do not wait until it is ready")
    .option("--json", "one JSON object");
  withExamples(
    withConnectionFlags(command),
    "voice summary last",
    "voice summary last --type action_items",
    "voice summary last --template sales_call",
    "voice summary last --type decisions --json | jq -r '.items[].text'",
  ).action((given: string, options: SummaryOptions) => summarise(given, options, context));
}

async function summarise(
  given: string,
  options: SummaryOptions,
  context: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, context.env);
  const sessionId = await sessionIdOf(user, given);
  const { template } = options;
  if (template !== undefined) await choose(user, sessionId, template);
  const { items, template: chosen } = await read(user, sessionId);
  const types = template === undefined ? [options.type] : typesOf(chosen);
  const asked = types.filter((type) => options.fresh || !isCurrent(items, type));
  if (asked.length === 0) return show({ items, template: chosen }, options, context);
  const params = { path: { session_id: sessionId } };
  const jobs: SummaryJob[] = [];
  for (const type of asked) {
    const body = { summary_type: type };
    jobs.push(
      await user.call((client) =>
        client.POST("/sessions/{session_id}/summaries", { params, body }),
      ),
    );
  }
  if (!options.wait) return showMaking(jobs, options, context);
  for (const { id } of jobs) await ready(user, id, context);
  show(await read(user, sessionId), options, context);
}

/** From now on the session's notes are arranged by this template. */
async function choose(user: UserSession, sessionId: string, template: TemplateId): Promise<void> {
  const { template: now } = await read(user, sessionId);
  if (now.id === template) return;
  const params = { path: { session_id: sessionId } };
  const body = { notes_template: template };
  await user.call((client) => client.PATCH("/sessions/{session_id}", { params, body }));
}

function read(user: UserSession, sessionId: string): Promise<Page> {
  const params = { path: { session_id: sessionId } };
  return user.call((client) => client.GET("/sessions/{session_id}/summaries", { params }));
}

/** What a template is made of. */
function typesOf({ sections }: Page["template"]): SummaryType[] {
  return [...new Set(sections.map(({ kind }) => (kind === "custom" ? "custom_sections" : kind)))];
}

function isCurrent(items: readonly Summary[], type: SummaryType): boolean {
  return items.find(({ summary_type }) => summary_type === type)?.stale === false;
}

function showMaking(
  jobs: readonly SummaryJob[],
  { template, json }: SummaryOptions,
  { stdout }: CommandContext,
): void {
  if (json) writeJson(stdout, template === undefined ? jobs[0] : { jobs });
  else stdout.write(`The ${template === undefined ? "summary is" : "notes are"} being made.\n`);
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

function show(
  page: Pick<Page, "items" | "template">,
  { type, template, json }: SummaryOptions,
  { stdout }: CommandContext,
): void {
  const columns = stdout.isTTY ? sizeOf(stdout).columns - 1 : Number.POSITIVE_INFINITY;
  const rowsOf = (text: string) =>
    text.split("\n").flatMap((line) => wrapped(printable(line), columns));
  if (template === undefined) {
    const summary = page.items.find(({ summary_type }) => summary_type === type);
    if (summary === undefined) throw new CommandFailure("the summary is gone again");
    if (json) writeJson(stdout, summary);
    else stdout.write(`${rowsOf(summary.text).join("\n")}\n`);
    return;
  }
  const sections = arrangedNotes(page);
  const { id, title } = page.template;
  if (json) return writeJson(stdout, { template: { id, title }, sections });
  const parts = sections.map((section) => [...rowsOf(section.title), ...rowsOf(section.text)]);
  stdout.write(`${parts.map((rows) => rows.join("\n")).join("\n\n")}\n`);
}

/** A section of a template, with what stands in it. */
interface ArrangedSection {
  readonly title: string;
  readonly kind: Page["template"]["sections"][number]["kind"];
  readonly text: string;
  readonly items: Summary["items"];
}

const NOTHING = "Nothing was found for this.";

/** The notes as their template arranges them; a section without any says so. */
export function arrangedNotes({
  items: summaries,
  template,
}: Pick<Page, "items" | "template">): ArrangedSection[] {
  return template.sections.map(({ title, kind }) => {
    const type = kind === "custom" ? "custom_sections" : kind;
    const summary = summaries.find(({ summary_type }) => summary_type === type);
    if (kind !== "custom") {
      return { title, kind, text: summary?.text || NOTHING, items: summary?.items ?? [] };
    }
    const items = (summary?.items ?? []).filter(({ section }) => section === title);
    const lines = items.map(({ text }) => `- ${text}`);
    return { title, kind, text: lines.join("\n") || NOTHING, items };
  });
}
