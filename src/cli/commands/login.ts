import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { ApiClient } from "../../client/api-client.ts";
import { BRISK } from "../../client/back-off.ts";
import { ApiError } from "../../client/errors.ts";
import { type CommandContext, CommandFailure } from "../client/command-context.ts";
import { Credentials } from "../client/credentials.ts";
import { EXIT } from "../client/exit-codes.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { baseUrlOf, type ConnectionOptions, logIn, reach } from "../client/user-session.ts";

/**
 * `voice login`: exchanges an e-mail address and a password for tokens and stores them for this
 * user.
 */
export function addLogin(program: Command, context: CommandContext): void {
  const command = program.command("login").description("sign in and remember it");
  withConnectionFlags(command)
    .addHelpText("after", "\nWhat is not given is asked for on a terminal.")
    .action((options: ConnectionOptions) => login(options, context));
}

async function login(options: ConnectionOptions, context: CommandContext): Promise<void> {
  const { env, stdout } = context;
  const baseUrl = baseUrlOf(options, env);
  if (options.token) {
    throw new CommandFailure("login takes an e-mail and a password; a token needs no login");
  }
  const api = new ApiClient(baseUrl, BRISK);
  await reach(api);
  const email = options.email || env.VOICE_EMAIL || (await ask("E-mail: ", false, context));
  const password =
    options.password || env.VOICE_PASSWORD || (await ask("Password: ", true, context));
  const credentials = new Credentials(env);
  try {
    credentials.save(baseUrl, await logIn(api, email, password));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw new CommandFailure(
      `${baseUrl} does not accept this e-mail and password`,
      error,
      EXIT.refused,
    );
  }
  stdout.write(`Signed in to ${baseUrl} as ${email}; kept in ${credentials.file}\n`);
}

async function ask(
  question: string,
  hidden: boolean,
  { stdin, stderr, signal }: CommandContext,
): Promise<string> {
  if (!stdin.isTTY) {
    throw new CommandFailure("give --email and --password (or VOICE_EMAIL and VOICE_PASSWORD)");
  }
  stderr.write(question);
  // Readline echoes input to its output; a hidden answer must not be shown.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = hidden ? nowhere : stderr;
  const reader = createInterface({ input: stdin, output, terminal: true });
  try {
    const answer = await reader.question("", { signal });
    if (hidden) stderr.write("\n");
    if (answer !== "") return answer;
    throw new CommandFailure(`${question.replace(": ", "")} is needed to sign in`);
  } finally {
    reader.close();
  }
}
