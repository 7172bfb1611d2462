import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Command } from "commander";
import { reasonOf } from "../../client/errors.ts";
import { type CommandContext, CommandFailure } from "../client/command-context.ts";

const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));
const TIMEOUT_MS = 30_000;

interface Options {
  data?: string;
  atOnce?: boolean;
}

/** `voice keys rotate`: adds a key for signing tokens, on the service's machine. */
export function addKeys(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("the keys that tokens are signed with");
  keys
    .command("rotate")
    .description("add a new signing key; running processes take it up without a restart")
    .option("--data <folder>", "data folder of the service (default: data, or VOICE_DATA)")
    .option("--at-once", "sign with it now, not when every cache of the key set has run out")
    .addHelpText("after", "\nWith VOICE_KEY_DIR set the keys are there, not in the data folder.")
    .action((options: Options) => rotate(options, context));
}

async function rotate(options: Options, { env, stdout, signal }: CommandContext): Promise<void> {
  const data = options.data ?? (env.VOICE_DATA || join(PROJECT, "data"));
  const folder =
    options.data === undefined && env.VOICE_KEY_DIR ? env.VOICE_KEY_DIR : join(data, "keys");
  const script = join(PROJECT, "src/roles/rotate-signing-key.ts");
  const flags = ["--disable-warning=ExperimentalWarning", script, folder];
  if (options.atOnce) flags.push("--at-once");
  try {
    const run = promisify(execFile);
    const done = await run(process.execPath, flags, { env, signal, timeout: TIMEOUT_MS });
    stdout.write(done.stdout);
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim();
    throw new CommandFailure(said || reasonOf(error), error);
  }
}
