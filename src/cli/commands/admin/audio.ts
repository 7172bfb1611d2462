import type { Command } from "commander";
import type { paths } from "../../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure, writeJson } from "../../client/command-context.ts";
import { withConnectionFlags, withExamples } from "../../client/flags.ts";
import { type ConnectionOptions, openUserSession } from "../../client/user-session.ts";
import { barRow } from "../../view/progress-row.ts";
import { megabytes } from "../../view/sizes.ts";
import { addAudioMove } from "./audio-move.ts";

type Verdict =
  paths["/admin/audio/verify"]["post"]["responses"]["200"]["content"]["application/json"];

interface VerifyOptions extends ConnectionOptions {
  readonly session?: string;
  readonly json?: boolean;
}

const KINDS: Record<Verdict["damaged"][number]["kind"], string> = {
  gone: "the file is gone",
  unreadable: "the disk does not give the file",
  cut: "the file is shorter than what was stored",
  changed: "the file holds other bytes than were stored",
};

/** `voice admin audio`: compares stored audio with its digests, and moves it to another store. */
export function addStoredAudio(admin: Command, context: CommandContext): void {
  const audio = admin.command("audio").description("look after stored audio (administrators)");
  addAudioMove(audio, context);
  const verify = audio
    .command("verify")
    .description("compare all stored audio with its SHA-256, as after a restored backup")
    .option("--session <id>", "this session only")
    .option("--json", "each damaged chunk as a JSON object per line");
  withExamples(
    withConnectionFlags(verify),
    "voice admin audio verify",
    "voice admin audio verify --json | jq -r .session_id | sort -u",
  )
    .addHelpText(
      "after",
      "\nWhat is damaged is listed; what is whole again is read again where that had failed.\nExit code 1 when anything is damaged.",
    )
    .action((options: VerifyOptions) => verifyAudio(options, context));
}

async function verifyAudio(
  { session: session_id, json, ...connection }: VerifyOptions,
  { env, stdout, stderr }: CommandContext,
): Promise<void> {
  const user = await openUserSession(connection, env);
  const done = { chunks: 0, bytes: 0, total: 0, damaged: 0 };
  let cursor: string | undefined;
  do {
    const body = { session_id, cursor };
    const verdict = await user.call((client) => client.POST("/admin/audio/verify", { body }));
    done.chunks += verdict.chunks;
    done.bytes += verdict.bytes;
    done.total = verdict.total_bytes ?? done.total;
    done.damaged += verdict.damaged.length;
    if (stderr.isTTY && !json) stderr.write("\r\x1b[K");
    for (const chunk of verdict.damaged) {
      if (json) writeJson(stdout, chunk);
      else stdout.write(`${rowOf(chunk)}\n`);
    }
    cursor = verdict.next_cursor ?? undefined;
    if (stderr.isTTY && !json && cursor !== undefined) stderr.write(progress(done, stderr.columns));
  } while (cursor !== undefined);
  const of = `${done.chunks} ${done.chunks === 1 ? "chunk" : "chunks"}, ${megabytes(done.bytes)} MB`;
  if (done.damaged > 0) throw new CommandFailure(`${done.damaged} damaged of ${of}`);
  if (!json) stdout.write(`All stored audio is whole: ${of}.\n`);
}

function rowOf({ session_id, chunk_sequence, kind }: Verdict["damaged"][number]): string {
  return `${session_id}  chunk ${chunk_sequence}  ${KINDS[kind]}`;
}

function progress({ bytes, total }: { bytes: number; total: number }, columns = 80): string {
  const figures = `${megabytes(bytes)} of ${megabytes(total)} MB`;
  return barRow("compared", total > 0 ? bytes / total : 0, figures, columns);
}
