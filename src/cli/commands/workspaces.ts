import type { Command } from "commander";
import type { paths } from "../../client/gen/api-schema.ts";
import { type CommandContext, writeJson } from "../client/command-context.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { readPages } from "../client/pages.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { printable } from "../view/transcript-line.ts";

type Workspace =
  paths["/workspaces/{id}"]["get"]["responses"]["200"]["content"]["application/json"];
type Usage = NonNullable<Workspace["usage"]>;
type Options = ConnectionOptions & { json?: boolean };

const USES: readonly [keyof Usage, string][] = [
  ["devices", "devices"],
  ["api_keys", "service keys"],
  ["webhooks", "webhooks"],
  ["recordings", "recording now"],
  ["stored_bytes", "bytes of audio"],
];

/** `voice workspaces`: lists one's own, or shows what one uses of what it may have. */
export function addWorkspaces(program: Command, context: CommandContext): void {
  const workspaces = program
    .command("workspaces")
    .description("the workspaces you belong to, and what they use");
  const list = workspaces.command("list", { isDefault: true }).description("newest first");
  withConnectionFlags(list.option("--json", "one JSON object per line")).action(
    (options: Options) => listWorkspaces(options, context),
  );
  const show = workspaces
    .command("show")
    .description("one, with what it uses of what it may have, for its owners and administrators")
    .argument("<id>", "as `voice workspaces` shows it");
  withConnectionFlags(show.option("--json", "the answer as JSON")).action(
    (id: string, options: Options) => showWorkspace(id, options, context),
  );
}

async function listWorkspaces(options: Options, { env, stdout }: CommandContext): Promise<void> {
  const items = await read(await openUserSession(options, env));
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
    return;
  }
  if (items.length === 0) stdout.write("You belong to no workspace.\n");
  for (const { id, name } of items) stdout.write(`${id}  ${printable(name)}\n`);
}

async function read(user: UserSession): Promise<Workspace[]> {
  const { items } = await readPages((query) =>
    user.call((client) => client.GET("/workspaces", { params: { query } })),
  );
  return items;
}

async function showWorkspace(
  id: string,
  options: Options,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { id } };
  const workspace = await user.call((client) => client.GET("/workspaces/{id}", { params }));
  if (options.json) return writeJson(stdout, workspace);
  stdout.write(`${workspace.id}  ${printable(workspace.name)}\n`);
  for (const row of useRows(workspace.usage)) stdout.write(`${row}\n`);
}

/** For members who may not manage it there is no usage. */
function useRows(usage: Usage | undefined): string[] {
  if (usage === undefined) return ["Its owners and administrators see what it uses."];
  return USES.map(([kind, label]) => {
    const { used, most } = usage[kind];
    const room = most === undefined ? "any number" : `at most ${most.toLocaleString("en")}`;
    return `${label.padEnd(16)}${used.toLocaleString("en")}, ${room}`;
  });
}
