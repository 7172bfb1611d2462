import type { Command } from "commander";
import type { paths } from "../../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure, writeJson } from "../../client/command-context.ts";
import { withConnectionFlags, withExamples } from "../../client/flags.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../../client/user-session.ts";
import { barRow } from "../../view/progress-row.ts";
import { megabytes } from "../../view/sizes.ts";

type Moved = paths["/admin/audio/move"]["post"]["responses"]["200"]["content"]["application/json"];

interface MoveOptions extends ConnectionOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface MoveTotals {
  from: string;
  to: string;
  files: number;
  bytes: number;
  erased: number;
  left: number;
  isEmpty: boolean;
}

const WHY: Record<Moved["left"][number]["why"], string> = {
  differs: "another file of its name is in the new store, and neither is known to be right",
  unreadable: "the disk does not give the file",
};

const HELP = `
Before it: name in AUDIO_MOVE_FROM where the audio is now, in AUDIO_STORE where it
is to be, and restart the service with both; it works on meanwhile. What is in the
former store is read there until it was moved; what comes goes to the new one. It
can be interrupted and run again. Afterwards take AUDIO_MOVE_FROM away.
From a bucket back to a folder it is the same, with AUDIO_STORE left out and
AUDIO_MOVE_FROM=s3://BUCKET/PREFIX.
Exit code 1 when a file stays where it was.`;

/** `voice admin audio move`: brings kept audio to the store that is in use. */
export function addAudioMove(audio: Command, context: CommandContext): void {
  const move = audio
    .command("move")
    .description("move kept audio to where AUDIO_STORE keeps it now, while the service is in use")
    .option("--dry-run", "count what there is to move, and move nothing")
    .option("--json", "each answer of the service as a JSON object per line");
  withExamples(
    withConnectionFlags(move),
    "voice admin audio move --dry-run",
    "voice admin audio move",
  )
    .addHelpText("after", HELP)
    .action((options: MoveOptions) => moveAudio(options, context));
}

async function moveAudio(
  { dryRun = false, json = false, ...connection }: MoveOptions,
  context: CommandContext,
): Promise<void> {
  const { stdout, stderr } = context;
  const user = await openUserSession(connection, context.env);
  const total = await walk(user, { isDry: true }, (moved) => {
    if (dryRun && json) writeJson(stdout, moved);
  });
  if (dryRun) {
    if (!json) stdout.write(`To move from ${total.from} to ${total.to}: ${sizeOf(total)}.\n`);
    return;
  }
  const isShown = stderr.isTTY && !json;
  const done = await walk(user, { isDry: false }, (moved, { bytes }) => {
    if (json) writeJson(stdout, moved);
    if (isShown) stderr.write("\r\x1b[K");
    for (const { session_id, file, why } of json ? [] : moved.left) {
      stdout.write(`${session_id}  ${file}  ${WHY[why]}\n`);
    }
    if (!isShown || moved.next_cursor === null) return;
    const figures = `${megabytes(bytes)} of ${megabytes(total.bytes)} MB`;
    const part = total.bytes > 0 ? bytes / total.bytes : 0;
    stderr.write(barRow("moved", Math.min(1, part), figures, stderr.columns ?? 80));
  });
  if (done.left > 0) {
    throw new CommandFailure(`${done.left} files stay in ${done.from}; ${sizeOf(done)} moved`);
  }
  if (json) return;
  const erased = done.erased > 0 ? `, ${done.erased} of deleted sessions removed` : "";
  stdout.write(`Moved from ${done.from} to ${done.to}: ${sizeOf(done)}${erased}.\n`);
  stdout.write(
    done.isEmpty
      ? "Nothing is left to move: take AUDIO_MOVE_FROM out of the settings and restart the service.\n"
      : "Something came meanwhile: run it again.\n",
  );
}

/** Has all of it gone through, answer by answer. */
async function walk(
  user: UserSession,
  { isDry }: { isDry: boolean },
  tell: (moved: Moved, totals: MoveTotals) => void,
): Promise<MoveTotals> {
  const totals = { from: "", to: "", files: 0, bytes: 0, erased: 0, left: 0, isEmpty: false };
  let cursor: string | undefined;
  do {
    const body = { dry_run: isDry, ...(cursor !== undefined && { cursor }) };
    const moved = await user.call((client) => client.POST("/admin/audio/move", { body }));
    totals.from = moved.from;
    totals.to = moved.to;
    totals.files += moved.files;
    totals.bytes += moved.bytes;
    totals.erased += moved.erased;
    totals.left += moved.left.length;
    totals.isEmpty = moved.empty;
    tell(moved, totals);
    cursor = moved.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return totals;
}

function sizeOf({ files, bytes }: Pick<MoveTotals, "files" | "bytes">): string {
  return `${files} ${files === 1 ? "file" : "files"}, ${megabytes(bytes)} MB`;
}
