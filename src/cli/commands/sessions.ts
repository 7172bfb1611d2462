import { type Command, Option } from "commander";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { isSure } from "../client/confirm.ts";
import { parseCount, withConnectionFlags, withExamples } from "../client/flags.ts";
import { readPages } from "../client/pages.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import { type Session, sessionCells, sessionRows } from "../view/session-rows.ts";
import { localMinute, tableText } from "../view/table.ts";
import { printable } from "../view/transcript-line.ts";

type Options = ConnectionOptions & { json?: boolean };

interface ListOptions extends Options {
  readonly workspace?: string;
  readonly status?: Session["status"];
  readonly limit: number;
}

const STATUSES = ["recording", "processing", "completed", "failed"] as const;
const SHOWN = 20;
const MOST = 10_000;

/** `voice sessions`: lists, shows, renames, stops and deletes sessions. */
export function addSessions(program: Command, context: CommandContext): void {
  const sessions = program.command("sessions").description("your sessions: what was recorded");
  withExamples(
    sessions,
    "voice sessions                              the newest ones",
    "voice sessions list --status recording      what records now",
    "voice sessions show last                    the newest, with its speakers",
    "voice sessions list --json --limit 1000 | jq -r 'select(.title == \"\") | .id'",
  );
  const list = sessions.command("list", { isDefault: true }).description("newest first");
  list
    .option("--workspace <id>", "of this workspace")
    .addOption(new Option("--status <status>", "in this state").choices(STATUSES))
    .option("--limit <count>", "at most so many", parseCount(1, MOST), SHOWN);
  withConnectionFlags(list.option("--json", "one JSON object per line")).action(
    (options: ListOptions) => listSessions(options, context),
  );
  const command = (usage: string, description: string) =>
    withConnectionFlags(
      sessions.command(usage).description(description).option("--json", "one JSON object"),
    );
  command("show", "one, with its speakers and what is missing of its audio")
    .argument("<session>", SESSION_ARGUMENT)
    .action((given: string, options: Options) => showSession(given, options, context));
  command("rename", "give it another title")
    .argument("<session>", SESSION_ARGUMENT)
    .argument("<title>")
    .action((given: string, title: string, options: Options) =>
      renameSession(given, title, options, context),
    );
  command("stop", "end its recording")
    .argument("<session>", SESSION_ARGUMENT)
    .action((given: string, options: Options) => stopSession(given, options, context));
  command("delete", "erase its words, its audio and all that was made of them, for good")
    .argument("<session>", SESSION_ARGUMENT)
    .option("--yes", "without asking")
    .action((given: string, options: Options & { yes?: boolean }) =>
      deleteSession(given, options, context),
    );
}

async function listSessions(options: ListOptions, { env, stdout, stderr }: CommandContext) {
  const { workspace: workspace_id, status, limit } = options;
  const user = await openUserSession(options, env);
  const { items, hasMore } = await readPages((page) => {
    const params = { query: { ...page, workspace_id, status } };
    return user.call((client) => client.GET("/sessions", { params }));
  }, limit);
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
  } else if (items.length === 0) {
    stdout.write("No session. `voice demo` or `voice upload FILE` makes one.\n");
  } else {
    stdout.write(
      tableText(["SESSION", "STATUS", "STARTED", "TITLE"], items.map(sessionCells), stdout),
    );
  }
  if (hasMore) stderr.write(`There are more than these ${limit}; --limit shows them.\n`);
}

async function showSession(given: string, options: Options, { env, stdout }: CommandContext) {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: await sessionIdOf(user, given) } };
  const session = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
  if (options.json) return writeJson(stdout, session);
  const [completeness, speakers] = await Promise.all([
    user.call((client) => client.GET("/sessions/{session_id}/completeness", { params })),
    user.call((client) => client.GET("/sessions/{session_id}/speakers", { params })),
  ]);
  const rows = sessionRows(session, completeness, speakers.items);
  stdout.write(`${rows.join("\n")}\n`);
}

async function renameSession(
  given: string,
  title: string,
  options: Options,
  { env, stdout }: CommandContext,
) {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: await sessionIdOf(user, given) } };
  const session = await user.call((client) =>
    client.PATCH("/sessions/{session_id}", { params, body: { title } }),
  );
  if (options.json) return writeJson(stdout, session);
  stdout.write(`Session ${session.id} is now "${printable(session.title)}".\n`);
}

async function stopSession(given: string, options: Options, { env, stdout }: CommandContext) {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: await sessionIdOf(user, given) } };
  const stopped = await user.call((client) =>
    client.POST("/sessions/{session_id}/stop", { params, body: {} }),
  );
  if (options.json) return writeJson(stdout, stopped);
  stdout.write(`Session ${stopped.session_id} records no more; it is ${stopped.status}.\n`);
}

async function deleteSession(
  given: string,
  options: Options & { yes?: boolean },
  context: CommandContext,
) {
  const { env, stdout } = context;
  const user = await openUserSession(options, env);
  const params = { path: { session_id: await sessionIdOf(user, given) } };
  if (!options.yes) {
    const session = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
    const what = `"${printable(session.title)}" of ${localMinute(session.started_at)}`;
    const sure = await isSure(`Delete ${what} for good?`, "delete", context);
    if (!sure) throw new CommandFailure("nothing was deleted");
  }
  const receipt = await user.call((client) => client.DELETE("/sessions/{session_id}", { params }));
  if (options.json) return writeJson(stdout, receipt);
  stdout.write(`${receipt.message} Receipt: ${receipt.receipt_id}\n`);
}
