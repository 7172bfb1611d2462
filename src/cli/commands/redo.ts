import type { Command } from "commander";
import {
  type CommandContext,
  CommandFailure,
  wantsColour,
  writeJson,
} from "../client/command-context.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { endOfJob } from "../client/job-wait.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import { diffRows, diffSummary } from "../view/diff-rows.ts";
import { printable } from "../view/transcript-line.ts";

type Options = ConnectionOptions & { json?: boolean };

interface RedoOptions extends Options {
  readonly review?: boolean;
  readonly engine?: string;
  readonly language?: string;
  readonly vocabulary?: string;
  readonly wait?: boolean;
}

/** `voice redo`: recognises a session's stored audio once more, and decides on the result. */
export function addRedo(program: Command, context: CommandContext): void {
  const redo = program
    .command("redo")
    .description("recognise a session once more; compare, accept or discard the result");
  const command = (usage: string, description: string, isDefault = false) =>
    withConnectionFlags(
      redo
        .command(usage, { isDefault })
        .description(description)
        .option("--json", "one JSON object"),
    );
  command("start <session>", "recognise it once more; its text stays until that is done", true)
    .option("--review", "do not replace the text: the result waits to be accepted or discarded")
    .option("--engine <name>", "with this speech engine")
    .option("--language <tag>", "as this language, for example en-GB")
    .option("--vocabulary <list>", "expect these words and phrases, with commas, now and later")
    .option("--no-wait", "do not wait for its end")
    .action((sessionId: string, options: RedoOptions) => start(sessionId, options, context));
  command("diff <session>", "what the result that waits would change").action(
    (sessionId: string, options: Options) => compare(sessionId, options, context),
  );
  command("accept <session>", "replace the text by the result that waits").action(
    (sessionId: string, options: Options) => choose(sessionId, "accept", options, context),
  );
  command("discard <session>", "drop the result that waits").action(
    (sessionId: string, options: Options) => choose(sessionId, "discard", options, context),
  );
}

async function start(
  sessionId: string,
  options: RedoOptions,
  context: CommandContext,
): Promise<void> {
  const { stdout } = context;
  const user = await openUserSession(options, context.env);
  const params = { path: { session_id: sessionId } };
  const { engine, language: forced_language, review } = options;
  const vocabulary = options.vocabulary?.split(",").map((word) => word.trim());
  const body = { engine, forced_language, vocabulary, review };
  const asked = await user.call((client) =>
    client.POST("/sessions/{session_id}/transcriptions", { params, body }),
  );
  const wait = { signal: context.signal, what: "the redo" };
  const job = options.wait === false ? asked : await endOfJob(user, asked.id, wait);
  if (options.json) return writeJson(stdout, job);
  if (options.wait === false) {
    stdout.write("The session is being recognised once more.\n");
    return;
  }
  if (job.status !== "completed") {
    throw new CommandFailure(
      `the redo is ${job.status}${job.error && `: ${printable(job.error)}`}`,
    );
  }
  stdout.write(
    review === true
      ? `The result waits. To see what it would change: voice redo diff ${sessionId}\n`
      : "The text was replaced.\n",
  );
}

async function compare(
  sessionId: string,
  options: Options,
  context: CommandContext,
): Promise<void> {
  const { stdout, env } = context;
  const user = await openUserSession(options, env);
  const params = { path: { session_id: sessionId } };
  const comparison = await user.call((client) =>
    client.GET("/sessions/{session_id}/transcriptions/candidate", { params }),
  );
  if (options.json) return writeJson(stdout, comparison);
  const rows = diffRows(comparison, wantsColour(context));
  if (rows.length === 0) rows.push("Both texts are the same.");
  for (const row of [...rows, "", ...diffSummary(comparison)]) stdout.write(`${row}\n`);
  stdout.write(`voice redo accept ${sessionId}, or discard\n`);
}

async function choose(
  sessionId: string,
  choice: "accept" | "discard",
  options: Options,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const params = { path: { session_id: sessionId } };
  const answer = await user.call((client) =>
    client.POST(`/sessions/{session_id}/transcriptions/candidate/${choice}`, { params }),
  );
  if (options.json) return writeJson(stdout, answer);
  stdout.write(`${answer.message}\n`);
}
