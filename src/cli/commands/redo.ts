import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import {
  type CommandContext,
  CommandFailure,
  wantsColour,
  writeJson,
} from "../client/command-context.ts";
import { withConnectionFlags } from "../client/flags.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
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

/** Time between two looks at a job, milliseconds. */
const LOOK_MS = 500;

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
  const job = options.wait === false ? asked : await ended(user, asked.id, context.signal);
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

/** Waits until the job has ended, however long it takes; Ctrl-C ends the wait, not the job. */
async function ended(user: UserSession, id: string, signal: AbortSignal) {
  for (;;) {
    const job = await user.call((client) => client.GET("/jobs/{id}", { params: { path: { id } } }));
    if (job.status !== "queued" && job.status !== "running") return job;
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw new CommandFailure("interrupted; the redo goes on");
  }
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
