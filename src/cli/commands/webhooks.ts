import type { Command } from "commander";
import type { paths } from "../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { readPages } from "../client/pages.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { printable } from "../view/transcript-line.ts";

type Listed =
  paths["/workspaces/{id}/webhooks"]["get"]["responses"]["200"]["content"]["application/json"];
type Webhook = Listed["items"][number];
type Options = ConnectionOptions & { json?: boolean };
type ReplayOptions = Options & { from?: string; to?: string };

/** `voice webhooks`: lists those of a workspace, tests one, or has it told again. */
export function addWebhooks(program: Command, context: CommandContext): void {
  const webhooks = program
    .command("webhooks")
    .description("who is told of what happens in a workspace's sessions (its owners)")
    .addHelpText(
      "after",
      "\nExamples:\n  voice webhooks list WORKSPACE\n  voice webhooks test WORKSPACE WEBHOOK\n  voice webhooks replay WORKSPACE WEBHOOK --from 2026-01-31T09:00:00Z",
    );
  const list = webhooks
    .command("list")
    .description("newest first")
    .argument("<workspace>", "its id, as `voice workspaces` shows it");
  withConnectionFlags(list.option("--json", "one JSON object per line")).action(
    (workspace: string, options: Options) => listWebhooks(workspace, options, context),
  );
  const test = withIds(webhooks.command("test")).description("send it a `webhook.test`");
  withConnectionFlags(test.option("--json", "the answer as JSON")).action(
    (workspace: string, webhook: string, options: Options) =>
      testWebhook(workspace, webhook, options, context),
  );
  const replay = withIds(webhooks.command("replay"))
    .description("send it again what happened in a span, under the same ids")
    .option("--from <time>", "RFC 3339; what happened at or after it")
    .option("--to <time>", "RFC 3339; and before it (default: now)");
  withConnectionFlags(replay.option("--json", "the answer as JSON")).action(
    (workspace: string, webhook: string, options: ReplayOptions) =>
      replayWebhook(workspace, webhook, options, context),
  );
}

function withIds(command: Command): Command {
  return command
    .argument("<workspace>", "its id, as `voice workspaces` shows it")
    .argument("<webhook>", "its id, as `voice webhooks list` shows it");
}

async function listWebhooks(
  id: string,
  options: Options,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const { items } = await readPages((query) =>
    user.call((client) =>
      client.GET("/workspaces/{id}/webhooks", { params: { path: { id }, query } }),
    ),
  );
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
    return;
  }
  if (items.length === 0) stdout.write("The workspace has no webhook.\n");
  for (const item of items) stdout.write(`${rowOf(item)}\n`);
}

function rowOf({ id, url, event_types: types, tags, enabled, suspended }: Webhook): string {
  const what = types.length === 0 ? "everything" : types.join(", ");
  const of = tags.length === 0 ? "" : ` of sessions with ${tags.map(printable).join(", ")}`;
  const state = suspended ? ", suspended" : enabled ? "" : ", off";
  return `${id}  ${printable(url)}  ${what}${of}${state}`;
}

async function testWebhook(
  id: string,
  webhook_id: string,
  options: Options,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { id, webhook_id } };
  const delivery = await user.call((client) =>
    client.POST("/workspaces/{id}/webhooks/{webhook_id}/test", { params }),
  );
  if (options.json) writeJson(stdout, delivery);
  else stdout.write(`Queued as ${delivery.id}; the delivery log tells what became of it.\n`);
}

async function replayWebhook(
  id: string,
  webhook_id: string,
  options: ReplayOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  if (options.from === undefined) throw new CommandFailure("say from when on: --from TIME");
  const user = await openUserSession(options, env);
  const count = await replayAll(user, { id, webhook_id }, options.from, options.to);
  if (options.json) writeJson(stdout, { replayed: count });
  else stdout.write(`${count === 1 ? "1 message is" : `${count} messages are`} sent again.\n`);
}

async function replayAll(
  user: UserSession,
  path: { id: string; webhook_id: string },
  from: string,
  to: string | undefined,
): Promise<number> {
  let count = 0;
  for (let next: string | undefined = from; next !== undefined; ) {
    const body: { from: string; to?: string } = { from: next, ...(to !== undefined && { to }) };
    const page = await user.call((client) =>
      client.POST("/workspaces/{id}/webhooks/{webhook_id}/replay", { params: { path }, body }),
    );
    count += page.replayed;
    next = page.next_from;
  }
  return count;
}
