import type { Command } from "commander";
import { type CommandContext, writeJson } from "../client/command-context.ts";
import { withConnectionFlags } from "../client/flags.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { type Speaker, speakerRow, suggestionRows } from "../view/speaker-rows.ts";
import { printable } from "../view/transcript-line.ts";

type Options = ConnectionOptions & { json?: boolean };
type RememberOptions = ConnectionOptions & { consent?: boolean; keepAfterDeletion?: boolean };
type ForgetOptions = ConnectionOptions & { workspace?: string };

/** `voice speakers`: who spoke in a session, and which voice is whose. */
export function addSpeakers(program: Command, context: CommandContext): void {
  const speakers = program
    .command("speakers")
    .description("who spoke in a session, whom voices sound like, and whose they are");
  const command = (usage: string, description: string) =>
    withConnectionFlags(speakers.command(usage).description(description));
  const list = speakers.command("list <session>", { isDefault: true }).description("all of them");
  withConnectionFlags(list.option("--json", "one JSON object per line")).action(
    (sessionId: string, options: Options) => listSpeakers(sessionId, options, context),
  );
  command("claim <session> <label>", "say that a voice is yours").action(
    (sessionId: string, label: string, options: ConnectionOptions) =>
      claim(sessionId, { speaker_label: label, source: "self_claim" }, options, context),
  );
  command(
    "assign <session> <label> <user>",
    "say whose a voice is, or confirm who claims it, as the session's owner",
  ).action((sessionId: string, label: string, assigned: string, options: ConnectionOptions) =>
    claim(
      sessionId,
      { speaker_label: label, source: "moderator_assignment", assigned_user_id: assigned },
      options,
      context,
    ),
  );
  command(
    "unclaim <session> <label>",
    "take a claim back; the voice that was remembered by it is forgotten",
  ).action((sessionId: string, label: string, options: ConnectionOptions) =>
    unclaim(sessionId, label, options, context),
  );
  command(
    "name <session> <label> [name]",
    "call a voice by a free name; without one take it away",
  ).action(
    (sessionId: string, label: string, name: string | undefined, options: ConnectionOptions) =>
      nameSpeaker({ sessionId, label, name }, options, context),
  );
  command(
    "remember <session> <label>",
    "have your voice remembered: one that the session's owner has assigned to you, or the only one of a session of yours",
  )
    .option("--consent", "agree that a print of your voice, biometric data, is kept for this")
    .option("--keep-after-deletion", "also when the session's sound is deleted or redacted")
    .action((sessionId: string, label: string, options: RememberOptions) =>
      remember(sessionId, label, options, context),
    );
  command("forget", "have your voice forgotten")
    .option("--workspace <id>", "in this workspace only")
    .action((options: ForgetOptions) => forget(options, context));
}

async function listSpeakers(
  sessionId: string,
  options: Options,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const items = await readSpeakers(user, sessionId);
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
    return;
  }
  if (items.length === 0) stdout.write("Nobody spoke yet.\n");
  for (const item of items) stdout.write(`${speakerRow(item)}\n`);
  for (const row of await suggestionsFor(user, sessionId, items)) stdout.write(`${row}\n`);
  for (const row of await lapsedRows(user)) stdout.write(`${row}\n`);
}

/** Rows that ask for a new voice where the remembered one cannot be compared any more. */
async function lapsedRows(user: UserSession): Promise<string[]> {
  const { lapsed } = await user.call((client) => client.GET("/users/me/voice"));
  return lapsed.map(
    ({ workspace_id: id, lapsed_at: at }) =>
      `Your voice in workspace ${id} was removed on ${at.slice(0, 10)}, as voices are remembered in another way now. Have it remembered again (voice speakers remember <session> <label> --consent) or decline (voice speakers forget --workspace ${id}).`,
  );
}

async function readSpeakers(user: UserSession, sessionId: string): Promise<readonly Speaker[]> {
  const params = { path: { session_id: sessionId } };
  const { items } = await user.call((client) =>
    client.GET("/sessions/{session_id}/speakers", { params }),
  );
  return items;
}

/** Rows that say whom the unclaimed voices of a session sound like. */
export async function readSuggestions(user: UserSession, sessionId: string): Promise<string[]> {
  return suggestionsFor(user, sessionId, await readSpeakers(user, sessionId));
}

/** Asks who the caller is only when there is something to say. */
async function suggestionsFor(
  user: UserSession,
  sessionId: string,
  items: readonly Speaker[],
): Promise<string[]> {
  if (items.every(({ suggestions }) => suggestions === undefined)) return [];
  const me = await user.call((client) => client.GET("/auth/me"));
  return suggestionRows(sessionId, items, me.id);
}

interface Claim {
  speaker_label: string;
  source: "self_claim" | "moderator_assignment";
  assigned_user_id?: string;
}

async function claim(
  sessionId: string,
  body: Claim,
  options: ConnectionOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: sessionId } };
  const claimed = await user.call((client) =>
    client.POST("/sessions/{session_id}/speaker-claims", { params, body }),
  );
  const whose = body.source === "self_claim" ? "you" : claimed.claimed_user_id;
  stdout.write(`${claimed.speaker_label} is ${whose}.\n`);
}

async function unclaim(
  sessionId: string,
  label: string,
  options: ConnectionOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: sessionId, label } };
  await user.call((client) =>
    client.DELETE("/sessions/{session_id}/speaker-claims/{label}", { params }),
  );
  stdout.write(`${label} is nobody's.\n`);
}

async function nameSpeaker(
  { sessionId, label, name }: { sessionId: string; label: string; name: string | undefined },
  options: ConnectionOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: sessionId, label } };
  const body = { display_name: name ?? null };
  const speaker = await user.call((client) =>
    client.PATCH("/sessions/{session_id}/speakers/{label}", { params, body }),
  );
  const { speaker_label: named, free_name: free } = speaker;
  stdout.write(
    free === undefined ? `${named} has no name.\n` : `${named} is ${printable(free)}.\n`,
  );
}

async function remember(
  sessionId: string,
  label: string,
  options: RememberOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: sessionId } };
  const session = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
  const body = { workspace_id: session.workspace_id, session_id: sessionId, label };
  const wanted = {
    consent: options.consent === true,
    keep_after_deletion: options.keepAfterDeletion === true,
  };
  const voice = await user.call((client) =>
    client.PUT("/users/me/voice", { body: { ...body, ...wanted } }),
  );
  const seconds = (voice.speech_ms / 1_000).toFixed(0);
  const until = voice.keep_after_deletion
    ? "also when the session's sound is deleted"
    : "as long as the session's sound is kept";
  stdout.write(
    `Your voice is remembered in workspace ${voice.workspace_id}, from ${seconds} s, ${until}.\n`,
  );
}

async function forget(options: ForgetOptions, { env, stdout }: CommandContext): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { query: { workspace_id: options.workspace } };
  const { message } = await user.call((client) => client.DELETE("/users/me/voice", { params }));
  stdout.write(`${message}\n`);
}
