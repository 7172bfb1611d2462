import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { reasonOf } from "../../client/errors.ts";
import {
  type CommandContext,
  CommandFailure,
  wantsColour,
  writeJson,
} from "../client/command-context.ts";
import { parseSeconds, withConnectionFlags } from "../client/flags.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { type Overview, overviewRows } from "../view/overview-table.ts";

type TopOptions = ConnectionOptions & { once?: boolean; json?: boolean; every?: number };

const DEFAULT_EVERY_S = 1;
/** Time limit of one look; a slower one counts as failed, milliseconds. */
const POLL_MS = 5_000;
const DEFAULT_COLUMNS = 120;
const DEFAULT_ROWS = 40;
/** Moves the cursor home and clears from there. */
const REDRAW = "\u001b[H\u001b[J";
const OTHER_SCREEN = "\u001b[?1049h\u001b[?25l";
const OWN_SCREEN = "\u001b[?25h\u001b[?1049l";

/** `voice top`: shows what runs, which node owns which sessions, and what lags. */
export function addTop(program: Command, context: CommandContext): void {
  const command = program
    .command("top")
    .description("nodes, leases, workers, queues and live sessions (administrators)")
    .option("--once", "show it once and end; so it does when piped, unless --every is given")
    .option("--json", "as the service says it, one JSON object per line")
    .option("--every <seconds>", "between two polls (default: 1)", parseSeconds(0.2, 3_600));
  withConnectionFlags(command).action((options: TopOptions) => top(options, context));
}

async function top(options: TopOptions, context: CommandContext): Promise<void> {
  const { env, stdout, signal } = context;
  const user = await openUserSession(options, env);
  const { once, every = DEFAULT_EVERY_S } = options;
  const isOnce = once === true || (!stdout.isTTY && options.every === undefined);
  if (isOnce) return show(await read(user), options, context);
  const isScreen = stdout.isTTY === true && !options.json;
  if (isScreen) stdout.write(OTHER_SCREEN);
  try {
    while (!signal.aborted) {
      await showNext(user, options, context);
      await delay(every * 1_000, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    if (isScreen) stdout.write(OWN_SCREEN);
  }
}

/** Shows the next overview. A temporary failure is shown instead of ending the command. */
async function showNext(
  user: UserSession,
  options: TopOptions,
  context: CommandContext,
): Promise<void> {
  try {
    show(await read(user), options, context);
  } catch (error) {
    const { stdout } = context;
    if (options.json || !stdout.isTTY || error instanceof CommandFailure) throw error;
    stdout.write(`${REDRAW}${user.api.baseUrl}\n\n${reasonOf(error)}\n`);
  }
}

function read(user: UserSession): Promise<Overview> {
  return user.call((client) => client.GET("/admin/overview"), { timeoutMs: POLL_MS });
}

function show(overview: Overview, options: TopOptions, context: CommandContext): void {
  const { stdout } = context;
  if (options.json) return writeJson(stdout, overview);
  const columns = stdout.columns || DEFAULT_COLUMNS;
  const height = stdout.rows || DEFAULT_ROWS;
  const rows = overviewRows(overview, { columns, colour: wantsColour(context) });
  const isScreen = stdout.isTTY === true && !options.once;
  const head = [`voice top   ${overview.at}`, ""];
  const shown = isScreen ? [...head, ...rows].slice(0, height - 1) : rows;
  stdout.write(`${isScreen ? REDRAW : ""}${shown.join("\n")}\n`);
}
