import { type Command, InvalidArgumentError } from "commander";
import { type CommandContext, wantsColour, writeJson } from "../client/command-context.ts";
import { ownWorkspaces, parseCount, withConnectionFlags, withExamples } from "../client/flags.ts";
import { readPages } from "../client/pages.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { type Hit, hitRows } from "../view/hit-rows.ts";

interface SearchOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly workspace?: string;
  readonly session?: string;
  readonly speaker?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
}

const SHOWN = 20;

/** `voice search`: finds what was said, in all workspaces of the user or in a part of them. */
export function addSearch(program: Command, context: CommandContext): void {
  const command = program
    .command("search")
    .description("find what was said, in all your workspaces")
    .argument("<words...>", "words that stand together in one utterance")
    .option("--workspace <id>", "in this workspace only")
    .option("--session <session>", `in this session only: ${SESSION_ARGUMENT}`)
    .option("--speaker <label-or-name>", "said by this voice, such as S1, or this person")
    .option("--from <time>", "said since, such as 2026-01-31 or 2026-01-31T09:30", parseTime)
    .option("--to <time>", "said until then", parseTime)
    .option("--limit <count>", "at most so many", parseCount(1, 1_000), SHOWN)
    .option("--json", "one JSON object per line");
  withExamples(
    withConnectionFlags(command),
    "voice search quarterly report",
    "voice search --from 2026-01-01 --speaker Anna budget",
    "voice search --session last --json launch | jq -r .start_ms",
  ).action((words: string[], options: SearchOptions) => search(words, options, context));
}

/** Parses a day or a time, in this machine's time zone unless it says another, to RFC 3339. */
function parseTime(text: string): string {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const at = new Date(isDay ? `${text}T00:00` : text);
  if (/^\d{4}-/.test(text) && Number.isFinite(at.getTime())) return at.toISOString();
  throw new InvalidArgumentError(
    "expected a day or a time, such as 2026-01-31 or 2026-01-31T09:30",
  );
}

async function search(
  words: string[],
  options: SearchOptions,
  context: CommandContext,
): Promise<void> {
  const { env, stdout, stderr } = context;
  const user = await openUserSession(options, env);
  const { limit } = options;
  let shown = 0;
  let hasMore = false;
  for (const { id, sessionId } of await placesOf(user, options)) {
    if (shown >= limit) break;
    const { speaker, from, to } = options;
    const found = await readPages((page) => {
      const query = { ...page, q: words.join(" "), session_id: sessionId, speaker, from, to };
      const params = { path: { id }, query };
      return user.call((client) => client.GET("/workspaces/{id}/search", { params }));
    }, limit - shown);
    for (const hit of found.items) write(hit, options, context);
    shown += found.items.length;
    hasMore ||= found.hasMore;
  }
  if (shown === 0 && !options.json) stdout.write("Nobody said that.\n");
  if (hasMore) stderr.write(`There are more than these ${limit}; --limit shows them.\n`);
}

function write(hit: Hit, { json }: SearchOptions, context: CommandContext): void {
  const { stdout } = context;
  if (json) return writeJson(stdout, hit);
  stdout.write(`${hitRows(hit, wantsColour(context)).join("\n")}\n`);
}

/** The workspaces to search in, and the only session to be found. */
async function placesOf(
  user: UserSession,
  { workspace, session }: SearchOptions,
): Promise<{ id: string; sessionId?: string }[]> {
  if (session !== undefined) {
    const params = { path: { session_id: await sessionIdOf(user, session) } };
    const found = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
    return [{ id: found.workspace_id, sessionId: found.id }];
  }
  return workspace === undefined ? ownWorkspaces(user) : [{ id: workspace }];
}
