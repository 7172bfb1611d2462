import { type Command, Option } from "commander";
import { type CommandContext, CommandFailure, writeJson } from "../../client/command-context.ts";
import { isSure } from "../../client/confirm.ts";
import { parseCount, withConnectionFlags, withExamples } from "../../client/flags.ts";
import { readPages } from "../../client/pages.ts";
import { type ConnectionOptions, openUserSession } from "../../client/user-session.ts";
import { localMinute, tableText } from "../../view/table.ts";
import { printable } from "../../view/transcript-line.ts";

type Options = ConnectionOptions & { json?: boolean };

interface ListOptions extends Options {
  readonly search?: string;
  readonly role?: "admin" | "participant" | "moderator";
  readonly disabled?: boolean;
  readonly limit: number;
}

const SHOWN = 50;

/** `voice admin users`: who has an account, and who may sign in. */
export function addUsers(admin: Command, context: CommandContext): void {
  const users = admin.command("users").description("who has an account");
  const list = users
    .command("list", { isDefault: true })
    .description("newest first")
    .option("--search <text>", "with this in name or address")
    .addOption(
      new Option("--role <role>", "of this role").choices(["admin", "moderator", "participant"]),
    )
    .option("--disabled", "only those who are disabled")
    .option("--limit <count>", "at most so many", parseCount(1, 10_000), SHOWN)
    .option("--json", "one JSON object per line");
  withExamples(withConnectionFlags(list), "voice admin users --search anna").action(
    (options: ListOptions) => listUsers(options, context),
  );
  const command = (usage: string, description: string) =>
    withConnectionFlags(
      users
        .command(usage)
        .description(description)
        .argument("<id>", "as `voice admin users` shows it")
        .option("--json", "the answer as JSON"),
    );
  command("disable", "sign out everywhere, and let in no more")
    .option("--yes", "without asking")
    .action((id: string, options: Options & { yes?: boolean }) => disable(id, options, context));
  command("enable", "let in again").action((id: string, options: Options) =>
    enable(id, options, context),
  );
}

async function listUsers(options: ListOptions, { env, stdout, stderr }: CommandContext) {
  const user = await openUserSession(options, env);
  const { search: q, role, disabled, limit } = options;
  const { items, hasMore } = await readPages((page) => {
    const params = { query: { ...page, q, role, disabled } };
    return user.call((client) => client.GET("/users", { params }));
  }, limit);
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
  } else if (items.length === 0) {
    stdout.write("Nobody.\n");
  } else {
    const cells = items.map((each) => [
      each.id,
      "role" in each ? each.role : "",
      "disabled" in each ? (each.disabled ? "disabled" : "active") : "",
      "created_at" in each ? localMinute(each.created_at) : "",
      printable(each.email),
      printable(each.name),
    ]);
    const head = ["USER", "ROLE", "STATE", "SINCE", "E-MAIL", "NAME"];
    stdout.write(tableText(head, cells, stdout));
  }
  if (hasMore) stderr.write(`There are more than these ${limit}; --limit shows them.\n`);
}

async function disable(id: string, options: Options & { yes?: boolean }, context: CommandContext) {
  const { env, stdout } = context;
  const user = await openUserSession(options, env);
  const params = { path: { id } };
  if (!options.yes) {
    const { email } = await user.call((client) => client.GET("/users/{id}", { params }));
    const sure = await isSure(`Disable ${printable(email)}?`, "disable", context);
    if (!sure) throw new CommandFailure("nobody was disabled");
  }
  const answer = await user.call((client) => client.POST("/users/{id}/disable", { params }));
  if (options.json) return writeJson(stdout, answer);
  stdout.write(`${answer.message}\n`);
}

async function enable(id: string, options: Options, { env, stdout }: CommandContext) {
  const user = await openUserSession(options, env);
  const params = { path: { id } };
  const answer = await user.call((client) => client.POST("/users/{id}/enable", { params }));
  if (options.json) return writeJson(stdout, answer);
  stdout.write(`${answer.message}\n`);
}
