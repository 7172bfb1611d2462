import type { Command } from "commander";
import { ApiError } from "../../client/errors.ts";
import type { paths } from "../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { isSure } from "../client/confirm.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { readPages } from "../client/pages.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { printable } from "../view/transcript-line.ts";

type Page = paths["/admin/outbox"]["get"]["responses"]["200"]["content"]["application/json"];
type Parked = Page["items"][number];
type Options = ConnectionOptions & { json?: boolean };

/** Most ids that the service takes at once. */
const PAGE = 100;

/** `voice outbox`: lists, retries or drops parked commands, which failed too often. */
export function addOutbox(program: Command, context: CommandContext): void {
  const outbox = program
    .command("outbox")
    .description("commands to sessions that were put aside (administrators)")
    .addHelpText(
      "after",
      "\nA command that fails ten times by its own fault is parked: it is tried no more, the later ones of\nits session go on. Mend the cause and retry it, or drop it. A dropped chunk shows as failed.",
    );
  const list = outbox.command("list").description("those that are parked, newest first");
  withConnectionFlags(list.option("--json", "one JSON object per line")).action(
    (options: Options) => listParked(options, context),
  );
  const retry = outbox
    .command("retry")
    .description("try them again, as if they were new")
    .argument("[id...]", "of parked commands, as `voice outbox list` shows them")
    .option("--all", "every parked command");
  withConnectionFlags(retry.option("--json", "the answer as JSON")).action(
    (ids: string[], options: Options & { all?: boolean }) => retryParked(ids, options, context),
  );
  const drop = outbox
    .command("drop")
    .description("give them up for good")
    .argument("<id...>", "of parked commands, as `voice outbox list` shows them")
    .option("--yes", "without asking");
  withConnectionFlags(drop.option("--json", "the answer as JSON")).action(
    (ids: string[], options: Options & { yes?: boolean }) => dropParked(ids, options, context),
  );
}

async function listParked(options: Options, { env, stdout }: CommandContext): Promise<void> {
  const user = await openUserSession(options, env);
  const { items, hasMore } = await read(user);
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
    return;
  }
  if (items.length === 0) {
    stdout.write("No command is parked: everything is delivered or on its way.\n");
    return;
  }
  for (const item of items) stdout.write(`${rowsOf(item).join("\n")}\n`);
  const count = `${items.length} ${hasMore ? "or more " : ""}parked`;
  stdout.write(`${count}; \`voice outbox retry --all\` tries them again\n`);
}

function rowsOf({ id, session_id, type, attempts, parked_at, reason }: Parked): string[] {
  return [
    `${id}  ${type}  session ${session_id}`,
    `    parked ${parked_at} after ${attempts} attempts: ${printable(reason)}`,
  ];
}

function read(user: UserSession): Promise<{ items: Parked[]; hasMore: boolean }> {
  return readPages((query) =>
    user.call((client) => client.GET("/admin/outbox", { params: { query } })),
  );
}

async function retryParked(
  given: readonly string[],
  options: Options & { all?: boolean },
  context: CommandContext,
): Promise<void> {
  const ids = [...new Set(given)];
  if (ids.length > 0 === (options.all === true)) {
    throw new CommandFailure("name the commands to be tried again, or give --all");
  }
  const user = await openUserSession(options, context.env);
  const send = (body: { all: true } | { ids: string[] }) =>
    user.call((client) => client.POST("/admin/outbox/retry", { body }));
  const count = options.all
    ? (await send({ all: true })).count
    : await inPages(ids, (some) => send({ ids: some }));
  report(count, { wanted: ids.length, what: "will be tried again" }, options, context);
}

async function dropParked(
  given: readonly string[],
  options: Options & { yes?: boolean },
  context: CommandContext,
): Promise<void> {
  const ids = [...new Set(given)];
  const user = await openUserSession(options, context.env);
  const what = ids.length === 1 ? "this command" : `these ${ids.length} commands`;
  if (!options.yes && !(await isSure(`Drop ${what} for good?`, "drop", context))) {
    throw new CommandFailure("nothing was dropped");
  }
  const count = await inPages(ids, (some) =>
    user.call((client) => client.POST("/admin/outbox/drop", { body: { ids: some } })),
  );
  report(count, { wanted: ids.length, what: "dropped for good" }, options, context);
}

/**
 * Processes ids in pages of the size that the service accepts; returns how many commands were
 * found.
 */
async function inPages(
  ids: readonly string[],
  send: (ids: string[]) => Promise<{ count: number }>,
): Promise<number> {
  let count = 0;
  for (let from = 0; from < ids.length; from += PAGE) {
    try {
      count += (await send(ids.slice(from, from + PAGE))).count;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
    }
  }
  return count;
}

function report(
  count: number,
  { wanted, what }: { wanted: number; what: string },
  { json }: Options,
  { stdout }: CommandContext,
): void {
  if (json) writeJson(stdout, { count });
  else if (count > 0) stdout.write(`${count === 1 ? "1 command" : `${count} commands`} ${what}.\n`);
  else if (wanted === 0) stdout.write("No command is parked.\n");
  if (count >= wanted) return;
  throw new CommandFailure(
    `${wanted - count} of ${wanted} not found: \`voice outbox list\` shows what is parked`,
  );
}
