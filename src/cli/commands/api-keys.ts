import { type Command, Option } from "commander";
import type { components } from "../../client/gen/api-schema.ts";
import { type CommandContext, writeJson } from "../client/command-context.ts";
import { isSure } from "../client/confirm.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { readPages } from "../client/pages.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import { printable } from "../view/transcript-line.ts";

type Key = components["schemas"]["ServiceKey"];
type IssuedKey = components["schemas"]["IssuedServiceKey"];
type Scope = components["schemas"]["ServiceKeyScope"];
type Options = ConnectionOptions & { json?: boolean };
type ListOptions = Options & { workspace?: string };
type RotateOptions = Options & { expires?: string };
type CreateOptions = RotateOptions & { scope: Scope[] };

/** A record, so that one that the service adds is missed when this is compiled. */
const SCOPES: Readonly<Record<Scope, true>> = {
  "sessions:read": true,
  "sessions:write": true,
  "sessions:share": true,
  query: true,
  export: true,
  webhooks: true,
  transcribe: true,
};

/** `voice api-keys`: lists, makes, rotates and revokes the keys of a workspace's programs. */
export function addApiKeys(program: Command, context: CommandContext): void {
  const keys = program
    .command("api-keys")
    .description("keys for the programs of a workspace (its owners)")
    .addHelpText(
      "after",
      "\nExamples:\n  voice api-keys create WORKSPACE Archive --scope sessions:read export > archive.key\n  voice api-keys list --workspace WORKSPACE\nA program sends its key as `X-API-Key`.",
    );
  const list = keys.command("list").description("those that you manage, newest first");
  list.option("--workspace <id>", "of this workspace only, as `voice workspaces` shows it");
  withConnectionFlags(list.option("--json", "one JSON object per line")).action(
    (options: ListOptions) => listKeys(options, context),
  );
  const create = keys
    .command("create")
    .description("make one; its text is shown this once, alone on standard output")
    .argument("<workspace>", "its id, as `voice workspaces` shows it")
    .argument("<name>", "what the key is for")
    .addOption(
      new Option("--scope <scope...>", "what it may do")
        .choices(Object.keys(SCOPES))
        .makeOptionMandatory(),
    )
    .option("--expires <time>", "RFC 3339, at most two years from now (default: in a year)");
  withConnectionFlags(create.option("--json", "the answer as JSON")).action(
    (workspace: string, name: string, options: CreateOptions) =>
      createKey(workspace, name, options, context),
  );
  const rotate = withId(keys.command("rotate"))
    .description("give it a new text; the old one works for another day")
    .option(
      "--expires <time>",
      "RFC 3339, at most two years from now (default: as long as the one before)",
    );
  withConnectionFlags(rotate.option("--json", "the answer as JSON")).action(
    (id: string, options: RotateOptions) => rotateKey(id, options, context),
  );
  const revoke = withId(keys.command("revoke"))
    .description("end it at once")
    .option("--yes", "without asking");
  withConnectionFlags(revoke).action((id: string, options: Options & { yes?: boolean }) =>
    revokeKey(id, options, context),
  );
}

function withId(command: Command): Command {
  return command.argument("<key>", "its id, as `voice api-keys list` shows it");
}

async function listKeys(
  { workspace: workspace_id, ...options }: ListOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const { items } = await readPages((page) =>
    user.call((client) =>
      client.GET("/api-keys", {
        params: { query: { ...page, ...(workspace_id !== undefined && { workspace_id }) } },
      }),
    ),
  );
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
    return;
  }
  if (items.length === 0) stdout.write("You manage no key.\n");
  for (const item of items) stdout.write(`${rowOf(item)}\n`);
}

function rowOf({ id, prefix, name, scopes, status, expires_at, last_used_at }: Key): string {
  const until = `until ${expires_at.slice(0, 10)}`;
  const used = last_used_at === undefined ? "never used" : `used ${last_used_at.slice(0, 10)}`;
  return `${id}  ${prefix}…  ${printable(name)}  ${scopes.join(", ")}  ${status}, ${until}, ${used}`;
}

async function createKey(
  workspace_id: string,
  name: string,
  { scope, expires, ...options }: CreateOptions,
  context: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, context.env);
  const body = { workspace_id, name, scopes: scope, ...expiry(expires) };
  show(await user.call((client) => client.POST("/api-keys", { body })), options, context);
}

async function rotateKey(
  id: string,
  { expires, ...options }: RotateOptions,
  context: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, context.env);
  const issued = await user.call((client) =>
    client.POST("/api-keys/{id}/rotate", { params: { path: { id } }, body: expiry(expires) }),
  );
  show(issued, options, context);
}

function expiry(expires_at: string | undefined): { expires_at?: string } {
  return expires_at === undefined ? {} : { expires_at };
}

/** The key alone on standard output, so that it can be put into a file. */
function show(
  { key, ...about }: IssuedKey,
  { json }: Options,
  { stdout, stderr }: CommandContext,
): void {
  if (json) {
    writeJson(stdout, { ...about, key });
    return;
  }
  stderr.write("The key is shown this once; keep it where only the program reads it.\n");
  stderr.write(`${rowOf(about)}\n`);
  stdout.write(`${key}\n`);
}

async function revokeKey(
  id: string,
  { yes, ...options }: Options & { yes?: boolean },
  context: CommandContext,
): Promise<void> {
  const question = "Its programs are refused from now on. Revoke it?";
  if (yes !== true && !(await isSure(question, "voice api-keys revoke", context))) return;
  const user = await openUserSession(options, context.env);
  const params = { path: { id } };
  await user.call((client) => client.DELETE("/api-keys/{id}", { params }));
  context.stdout.write("The key is revoked.\n");
}
