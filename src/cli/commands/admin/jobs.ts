import { type Command, Option } from "commander";
import type { operations } from "../../../client/gen/api-schema.ts";
import { clockTime } from "../../../wire/clock-time.ts";
import { type CommandContext, writeJson } from "../../client/command-context.ts";
import { parseCount, withConnectionFlags, withExamples } from "../../client/flags.ts";
import { readPages } from "../../client/pages.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../../client/user-session.ts";
import { localMinute, tableText } from "../../view/table.ts";
import { printable } from "../../view/transcript-line.ts";

type Job = operations["getTranscriptionJob"]["responses"]["200"]["content"]["application/json"];
/** What both kinds of jobs have in a list, and the type of a summary. */
type ListedJob = Pick<
  Job,
  "id" | "status" | "progress" | "created_at" | "error" | "session_id" | "workspace_id"
> & { summary_type?: string };
type Options = ConnectionOptions & { json?: boolean };

interface ListOptions extends Options {
  readonly kind: "transcriptions" | "summarisations";
  readonly status?: Job["status"];
  readonly session?: string;
  readonly workspace?: string;
  readonly limit: number;
}

interface RedoOptions extends Options {
  readonly engine?: string;
  readonly language?: string;
  readonly review?: boolean;
}

const SHOWN = 20;

/** `voice admin jobs`: transcription and summarisation jobs of everybody. */
export function addJobs(admin: Command, context: CommandContext): void {
  const jobs = admin.command("jobs").description("transcription and summarisation jobs");
  const list = jobs
    .command("list", { isDefault: true })
    .description("newest first")
    .addOption(
      new Option("--kind <kind>", "of these")
        .choices(["transcriptions", "summarisations"])
        .default("transcriptions"),
    )
    .addOption(
      new Option("--status <status>", "in this state").choices([
        ...["queued", "running", "completed", "failed", "cancelled"],
      ]),
    )
    .option("--session <id>", "of this session")
    .option("--workspace <id>", "of this workspace")
    .option("--limit <count>", "at most so many", parseCount(1, 10_000), SHOWN)
    .option("--json", "one JSON object per line");
  withExamples(
    withConnectionFlags(list),
    "voice admin jobs --status failed",
    "voice admin jobs list --status failed --json | jq -r .id | xargs -n1 voice admin jobs redo",
  ).action((options: ListOptions) => listJobs(options, context));
  const show = jobs
    .command("show")
    .description("one transcription job; its words only to members, or for a reason")
    .argument("<id>", "as `voice admin jobs` shows it")
    .option("--reason <text>", "see the words, for this reason, which the audit log keeps")
    .option("--json", "the job as JSON");
  withConnectionFlags(show).action((id: string, options: Options & { reason?: string }) =>
    showJob(id, options, context),
  );
  const redo = jobs
    .command("redo")
    .description("recognise the job's session once more")
    .argument("<id>", "as `voice admin jobs` shows it")
    .option("--engine <name>", "with this speech engine")
    .option("--language <tag>", "as this language, for example en-GB")
    .option("--review", "do not replace the text: the result waits to be accepted")
    .option("--json", "the answer as JSON");
  withConnectionFlags(redo).action((id: string, options: RedoOptions) =>
    redoJob(id, options, context),
  );
}

async function listJobs(options: ListOptions, { env, stdout, stderr }: CommandContext) {
  const user = await openUserSession(options, env);
  const { kind, status, session: session_id, workspace: workspace_id, limit } = options;
  const { items, hasMore } = await readPages<ListedJob>((page) => {
    const params = { query: { ...page, status, session_id, workspace_id } };
    return kind === "transcriptions"
      ? user.call((client) => client.GET("/admin/jobs/transcriptions", { params }))
      : user.call((client) => client.GET("/admin/jobs/summarisations", { params }));
  }, limit);
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
  } else if (items.length === 0) {
    stdout.write("There is no such job.\n");
  } else {
    const head = ["JOB", "STATUS", "DONE", "CREATED", "SESSION", "ERROR"];
    stdout.write(tableText(head, items.map(cellsOf), stdout));
  }
  if (hasMore) stderr.write(`There are more than these ${limit}; --limit shows them.\n`);
}

function cellsOf(job: ListedJob): string[] {
  const { id, status, progress, created_at, session_id = "", summary_type, error } = job;
  return [
    id,
    summary_type === undefined ? status : `${status} ${summary_type}`,
    `${Math.round(100 * progress)} %`,
    localMinute(created_at),
    session_id,
    printable(error),
  ];
}

/** With a reason an elevation of the session is begun for this one look, and ended after it. */
async function showJob(
  id: string,
  options: Options & { reason?: string },
  { env, stdout }: CommandContext,
) {
  const user = await openUserSession(options, env);
  const closed = await readJob(user, id);
  const { reason } = options;
  const isNeeded = reason !== undefined && closed.elevation_required;
  const job = isNeeded ? await readElevated(user, closed, reason) : closed;
  if (options.json) return writeJson(stdout, job);
  stdout.write(`${jobRows(job).join("\n")}\n`);
}

function readJob(user: UserSession, id: string): Promise<Job> {
  const params = { path: { job_id: id } };
  return user.call((client) => client.GET("/admin/jobs/transcriptions/{job_id}", { params }));
}

async function readElevated(user: UserSession, job: Job, reason: string): Promise<Job> {
  const { id, session_id, workspace_id } = job;
  const place = session_id === undefined ? { workspace_id } : { session_id };
  const body = { reason, duration_minutes: 1, ...place };
  const { elevation_id } = await user.call((client) =>
    client.POST("/admin/content-elevate", { body }),
  );
  try {
    return await readJob(user, id);
  } finally {
    const params = { path: { elevation_id } };
    // It ends by itself after a minute.
    await user
      .call((client) => client.DELETE("/admin/content-elevate/{elevation_id}", { params }))
      .catch(() => undefined);
  }
}

function jobRows(job: Job): string[] {
  const { duration_ms, avg_confidence, completed_at, diarisation_model_version } = job;
  const facts: [string, string | undefined][] = [
    ["status", `${job.status}, ${Math.round(100 * job.progress)} %`],
    ["error", printable(job.error)],
    ["session", job.session_id],
    ["workspace", job.workspace_id],
    ["created", localMinute(job.created_at)],
    ["completed", completed_at && localMinute(completed_at)],
    ["language", job.forced_language ?? job.detected_language],
    ["audio", duration_ms === undefined ? undefined : clockTime(duration_ms / 1_000)],
    ["segments", `${job.segment_count}, of ${job.speaker_count ?? 0} speakers`],
    ["confidence", avg_confidence?.toFixed(2)],
    ["voices by", diarisation_model_version],
    ["deleted", job.session_was_deleted ? (job.deletion_event_kind ?? "yes") : undefined],
  ];
  const rows = facts.flatMap(([name, fact]) => (fact ? [`${name.padEnd(12)}${fact}`] : []));
  const words = job.content_visible
    ? job.segments.map(
        ({ start_ms, speaker_label = "UU", text }) =>
          `${clockTime(start_ms / 1_000)}  ${speaker_label}  ${printable(text)}`,
      )
    : job.elevation_required
      ? ["The words are closed to administrators: --reason opens them, and is kept."]
      : [];
  return [`Job ${job.id}`, ...rows, ...(words.length > 0 ? ["", ...words] : [])];
}

async function redoJob(id: string, options: RedoOptions, { env, stdout }: CommandContext) {
  const user = await openUserSession(options, env);
  const { engine, language: forced_language, review } = options;
  const params = { path: { job_id: id } };
  const answer = await user.call((client) =>
    client.POST("/admin/jobs/transcriptions/{job_id}/redo", {
      params,
      body: { engine, forced_language, review },
    }),
  );
  if (options.json) return writeJson(stdout, answer);
  stdout.write(`${answer.message}\n`);
}
