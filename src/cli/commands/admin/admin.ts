import type { Command } from "commander";
import { type CommandContext, CommandFailure, writeJson } from "../../client/command-context.ts";
import { EXIT } from "../../client/exit-codes.ts";
import { parseCount, withConnectionFlags, withExamples } from "../../client/flags.ts";
import { type ConnectionOptions, openUserSession } from "../../client/user-session.ts";
import { localMinute } from "../../view/table.ts";
import { addAudit } from "../audit.ts";
import { addStoredAudio } from "./audio.ts";
import { addBackup } from "./backup.ts";
import { addJobs } from "./jobs.ts";
import { addUsers } from "./users.ts";

interface ElevateOptions extends ConnectionOptions {
  readonly reason?: string;
  readonly session?: string;
  readonly workspace?: string;
  readonly minutes?: number;
  readonly end?: string;
  readonly json?: boolean;
}

const MOST_MINUTES = 24 * 60;

/** `voice admin`: what administrators see and do. */
export function addAdmin(program: Command, context: CommandContext): void {
  const admin = program
    .command("admin")
    .description(
      "jobs, users, the audit log, stored audio (administrators); backups (on the machine)",
    );
  addJobs(admin, context);
  addUsers(admin, context);
  addAudit(admin, context);
  addStoredAudio(admin, context);
  addBackup(admin, context);
  const elevate = admin
    .command("elevate")
    .description("open what was said to you for a while, for a reason that the audit log keeps")
    .option("--reason <text>", "why it must be seen")
    .option("--session <id>", "this session only (default: all)")
    .option("--workspace <id>", "this workspace and its sessions only")
    .option("--minutes <count>", "for so long (default: 30)", parseCount(1, MOST_MINUTES))
    .option("--end <id>", "end this elevation instead")
    .option("--json", "the answer as JSON");
  withExamples(
    withConnectionFlags(elevate),
    "voice admin elevate --session ID --reason 'Ticket 4711: words are missing'",
    "voice admin elevate --end ID",
  ).action((options: ElevateOptions) => elevateOrEnd(options, context));
}

async function elevateOrEnd(
  options: ElevateOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  const { reason, session: session_id, workspace: workspace_id, minutes, end } = options;
  if ((end === undefined) === (reason === undefined)) {
    throw new CommandFailure("give --reason to begin, or --end", undefined, EXIT.usage);
  }
  const user = await openUserSession(options, env);
  if (end !== undefined) {
    const params = { path: { elevation_id: end } };
    const answer = await user.call((client) =>
      client.DELETE("/admin/content-elevate/{elevation_id}", { params }),
    );
    if (options.json) return writeJson(stdout, answer);
    stdout.write(`${answer.message}\n`);
    return;
  }
  const body = {
    ...{ reason: reason ?? "", session_id, workspace_id },
    ...(minutes !== undefined && { duration_minutes: minutes }),
  };
  const answer = await user.call((client) => client.POST("/admin/content-elevate", { body }));
  if (options.json) return writeJson(stdout, answer);
  const { elevation_id: id, expires_at } = answer;
  stdout.write(
    `Until ${localMinute(expires_at)}; voice admin elevate --end ${id} ends it sooner.\n`,
  );
}
