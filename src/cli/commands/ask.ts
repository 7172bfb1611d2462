import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import type { Command } from "commander";
import type { operations } from "../../client/gen/api-schema.ts";
import { clockTime } from "../../wire/clock-time.ts";
import {
  type CommandContext,
  CommandFailure,
  wantsColour,
  writeJson,
} from "../client/command-context.ts";
import { EXIT } from "../client/exit-codes.ts";
import { ownWorkspaces, withConnectionFlags, withExamples } from "../client/flags.ts";
import { SESSION_ARGUMENT, sessionIdOf } from "../client/session-choice.ts";
import {
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { sizeOf } from "../view/live-area.ts";
import { wrapped } from "../view/terminal-text.ts";
import { printable } from "../view/transcript-line.ts";

type Answer = operations["querySession"]["responses"]["200"]["content"]["application/json"];

interface AnswerStyle {
  /** The width of the terminal; infinite for a pipe. */
  readonly columns: number;
  readonly colour: boolean;
  /** True for an answer about several sessions, whose citations name theirs. */
  readonly isAcross: boolean;
}

/** The caller decides whether colour is used, not styleText. */
const RAW = { validateStream: false };
const INDENT = "    ";

/**
 * An answer, then what it rests on: `[1] 00:32  Anna  the words`, with the session's id where there
 * are several. A question that got no citation is answered alone.
 */
function answerRows({ answer, citations }: Answer, style: AnswerStyle): string[] {
  const { columns, colour, isAcross } = style;
  const rows = answer.split("\n").flatMap((line) => wrapped(printable(line), columns - 1));
  if (citations.length === 0) return rows;
  const sources = citations.flatMap((cited, at) => {
    const name = printable(cited.speaker_name ?? cited.speaker_label);
    const place = isAcross ? `  session ${cited.session_id}` : "";
    const head = `[${at + 1}] ${clockTime(cited.start_ms / 1_000)}  ${name}${place}`;
    const said = wrapped(printable(cited.text), columns - INDENT.length - 1);
    return [colour ? styleText("bold", head, RAW) : head, ...said.map((row) => INDENT + row)];
  });
  return [...rows, "", ...sources];
}

interface AskOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly session?: string | undefined;
  readonly workspace?: string;
}

const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A session that stands before the question, where other commands take theirs: an id, or `last` before a question in
 * quotation marks. Else the words are the question, as "last week" begins one.
 */
export function sessionBefore(words: readonly string[]): string | undefined {
  const [first = "", ...question] = words;
  const isLast = first === "last" && question.length === 1 && /\s/.test(question[0] ?? "");
  return isLast || (SESSION_ID.test(first) && question.length > 0) ? first : undefined;
}

/** Time limit of an answer, milliseconds: one about many long sessions takes a while. */
const ANSWER_MS = 120_000;

/** `voice ask`: answers a question from what was said, with who said it and when. */
export function addAsk(program: Command, context: CommandContext): void {
  const command = program
    .command("ask")
    .description("ask about a session or a workspace; the answer quotes who said what, and when")
    .argument("<question...>", "in plain words, or `-` to read it from standard input")
    .option("--session <session>", `about this session: ${SESSION_ARGUMENT}`)
    .option("--workspace <id>", "about all sessions of this workspace (default: your oldest)")
    .option("--json", "the answer as JSON");
  withExamples(
    withConnectionFlags(command),
    "voice ask --session last What did Anna say about the price",
    "voice ask 'Who decided on the date, last week?'",
    "voice ask --json 'How often was \"launch\" said?' | jq '.citations | length'",
  ).action((words: string[], options: AskOptions) => ask(words, options, context));
}

async function ask(given: string[], options: AskOptions, context: CommandContext): Promise<void> {
  const { env, stdin, stdout } = context;
  const before = options.session === undefined ? sessionBefore(given) : undefined;
  const { session = before } = options;
  const words = before === undefined ? given : given.slice(1);
  if (session !== undefined && options.workspace !== undefined) {
    throw new CommandFailure("give --session or --workspace, not both", undefined, EXIT.usage);
  }
  const query = (words.join(" ") === "-" ? await text(stdin) : words.join(" ")).trim();
  if (query === "") throw new CommandFailure("the question is empty", undefined, EXIT.usage);
  const user = await openUserSession(options, env);
  const answer = await answerTo(query, user, { ...options, session }, context);
  if (options.json) return writeJson(stdout, answer);
  const columns = stdout.isTTY ? sizeOf(stdout).columns : Number.POSITIVE_INFINITY;
  const style = { columns, colour: wantsColour(context), isAcross: session === undefined };
  stdout.write(`${answerRows(answer, style).join("\n")}\n`);
}

async function answerTo(
  query: string,
  user: UserSession,
  { session, workspace }: AskOptions,
  { stderr }: CommandContext,
) {
  const body = { query };
  const limit = { timeoutMs: ANSWER_MS };
  if (session !== undefined) {
    const params = { path: { session_id: await sessionIdOf(user, session) } };
    return user.call(
      (client) => client.POST("/sessions/{session_id}/hirag-query", { params, body }),
      limit,
    );
  }
  const id = workspace ?? (await oldestWorkspace(user, stderr));
  const params = { path: { id } };
  return user.call(
    (client) => client.POST("/workspaces/{id}/agentic-query", { params, body }),
    limit,
  );
}

/** The id of the user's oldest workspace; says which one when there are several. */
async function oldestWorkspace(user: UserSession, stderr: NodeJS.WriteStream): Promise<string> {
  const own = await ownWorkspaces(user);
  const oldest = own.at(-1);
  if (oldest === undefined) {
    throw new CommandFailure("you belong to no workspace yet", undefined, EXIT.missing);
  }
  if (own.length > 1) {
    const name = printable(oldest.name);
    stderr.write(`About workspace "${name}", the oldest of yours; --workspace takes another.\n`);
  }
  return oldest.id;
}
