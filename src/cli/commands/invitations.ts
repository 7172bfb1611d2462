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

type Page = paths["/invitations"]["get"]["responses"]["200"]["content"]["application/json"];
type Invitation = Page["items"][number];
type Options = ConnectionOptions & { json?: boolean };

/** `voice invitations`: lists, accepts or declines invitations to oneself. */
export function addInvitations(program: Command, context: CommandContext): void {
  const invitations = program
    .command("invitations")
    .description("what you are invited to: workspaces and sessions")
    .addHelpText(
      "after",
      "\nInvitations to your address show once it is known to be yours: after a sign-in by a mailed link,\nor at an identity provider.",
    );
  const list = invitations.command("list", { isDefault: true }).description("newest first");
  withConnectionFlags(list.option("--json", "one JSON object per line")).action(
    (options: Options) => listInvitations(options, context),
  );
  for (const deed of ["accept", "decline"] as const) {
    const command = invitations
      .command(deed)
      .description(deed === "accept" ? "become a member" : "do not; whoever invited is not told")
      .argument("<id>", "as `voice invitations` shows it");
    withConnectionFlags(command.option("--json", "the answer as JSON")).action(
      (id: string, options: Options) => answer(deed, id, options, context),
    );
  }
}

async function listInvitations(options: Options, { env, stdout }: CommandContext): Promise<void> {
  const items = await read(await openUserSession(options, env));
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
    return;
  }
  if (items.length === 0) stdout.write("There is no invitation to you.\n");
  for (const item of items) stdout.write(`${rowOf(item)}\n`);
}

function rowOf({ id, kind, role, workspace_name, invited_by, expires_at }: Invitation): string {
  const name = workspace_name ?? "";
  const what = kind === "workspace" ? `workspace ${printable(name)}` : "a session";
  const who = printable(invited_by.name) || "somebody";
  return `${id}  ${what}, as ${role}, by ${who}, until ${expires_at}`;
}

async function read(user: UserSession): Promise<Invitation[]> {
  const { items } = await readPages((query) =>
    user.call((client) => client.GET("/invitations", { params: { query } })),
  );
  return items;
}

async function answer(
  deed: "accept" | "decline",
  id: string,
  options: Options,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { id } };
  const answered = await user.call((client) =>
    deed === "accept"
      ? client.POST("/invitations/{id}/accept", { params })
      : client.POST("/invitations/{id}/decline", { params }),
  );
  if (options.json) writeJson(stdout, answered);
  else stdout.write(`${answered.message}\n`);
}
