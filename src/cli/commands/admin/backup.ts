import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { type CommandContext, CommandFailure } from "../../client/command-context.ts";
import { EXIT } from "../../client/exit-codes.ts";
import { parseCount, withExamples } from "../../client/flags.ts";

/** Of the installation: a backup needs its database's passwords, and no login. */
const PROGRAM = fileURLToPath(new URL("../../../../deploy/backup/main.ts", import.meta.url));
const MOST_KEPT = 10_000;

interface KeyOptions {
  readonly keyFile?: string;
  readonly passphrase?: boolean;
}

interface Options extends KeyOptions {
  readonly data?: string;
  readonly at?: string;
  readonly keep?: number;
  readonly ledger?: readonly string[];
  readonly json?: boolean;
}

/** `voice admin backup` and `voice admin restore`, on the service's machine. */
export function addBackup(admin: Command, context: CommandContext): void {
  const backup = admin
    .command("backup")
    .description("copy record and sound of one moment, on the service's machine");
  const run = (action: string) => (folder: string, options: Options) =>
    runProgram(action, folder, options, context);
  const create = backup
    .command("create", { isDefault: true })
    .description("make a backup, while the service runs or stands still")
    .argument("<folder>", "where the backups of this installation are")
    .option("--data <folder>", "data folder of the service (default: data, or VOICE_DATA)")
    .option("--keep <count>", "then remove all but the newest ones", parseCount(1, MOST_KEPT))
    .option("--json", "the result as JSON");
  withExamples(
    withKeyFlags(create),
    "voice admin backup /mnt/backup/voice --keep 14",
    "voice admin backup /mnt/backup/voice --key-file /root/backup.key",
  )
    .addHelpText(
      "after",
      "\nSound that is in the folder already is not copied again. The folder holds signing keys and\npasswords: encrypt it, or keep it as safe as the service. Exit code 1 when a file was missing.",
    )
    .action(run("create"));
  const list = backup
    .command("list")
    .description("the backups of a folder")
    .argument("<folder>", "of the backups")
    .option("--json", "one JSON object per line");
  withKeyFlags(list).action(run("list"));
  const verify = backup
    .command("verify")
    .description("read all of a backup, and compare counts and checksums")
    .argument("<folder>", "of the backups")
    .option("--at <name>", "this one, as `list` shows it (default: the newest)")
    .option("--json", "the result as JSON");
  withKeyFlags(verify).action(run("verify"));
  addRestore(admin, run("restore"));
}

function addRestore(admin: Command, run: (folder: string, options: Options) => Promise<void>) {
  const restore = admin
    .command("restore")
    .description("make a new data folder of a backup, and compare it")
    .argument("<folder>", "of the backups")
    .requiredOption("--data <folder>", "the data folder to be made: new, or empty")
    .option("--at <name>", "this backup, as `backup list` shows it (default: the newest)")
    .option("--ledger <folder...>", "bring these ledgers of erasures along, as OLD/blobs/erasures")
    .option("--json", "the result as JSON");
  withExamples(
    withKeyFlags(restore),
    "voice admin restore /mnt/backup/voice --data /srv/voice --ledger /srv/voice.old/blobs/erasures",
  )
    .addHelpText(
      "after",
      "\nWhat was erased is erased again by the first start, as far as the ledgers know of it.",
    )
    .action(run);
}

function withKeyFlags(command: Command): Command {
  return command
    .option("--key-file <file>", "encrypted: the file holds the passphrase or key")
    .option("--passphrase", "encrypted: asks for the passphrase");
}

async function runProgram(
  action: string,
  folder: string,
  options: Options,
  context: CommandContext,
): Promise<void> {
  const { data, at, keep, ledger = [], json, keyFile, passphrase } = options;
  if (keyFile !== undefined && passphrase) {
    throw new CommandFailure("give --key-file or --passphrase", undefined, EXIT.usage);
  }
  const secret = passphrase ? await askPassphrase(context, action === "create") : undefined;
  const flags = Object.entries({ data, at, "key-file": keyFile, keep }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  flags.push(...ledger.flatMap((each) => ["--ledger", each]));
  if (json) flags.push("--json");
  if (secret !== undefined) flags.push("--key-on-stdin");
  const code = await start([PROGRAM, action, ...flags, "--", folder], secret, context);
  if (code !== 0)
    throw new CommandFailure(`exit code ${code}, for what is said above`, undefined, code);
}

/** Progress goes to the terminal as it comes, and a Ctrl-C to the program, which ends cleanly. */
async function start(
  args: string[],
  secret: string | undefined,
  { env, signal, stdout, stderr }: CommandContext,
): Promise<number> {
  const isOwn = stdout === process.stdout;
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    env,
    stdio: ["pipe", isOwn ? "inherit" : "pipe", isOwn ? "inherit" : "pipe"],
  });
  const end = () => child.kill("SIGTERM");
  signal.addEventListener("abort", end, { once: true });
  child.stdout?.pipe(stdout, { end: false });
  child.stderr?.pipe(stderr, { end: false });
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(secret ?? "");
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? EXIT.failed;
  } catch (error) {
    throw new CommandFailure("the program of backups cannot be started", error);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** Of a new one twice: nobody sees what is typed. */
async function askPassphrase(context: CommandContext, isNew: boolean): Promise<string> {
  if (!context.stdin.isTTY) {
    throw new CommandFailure("--passphrase asks on a terminal; elsewhere give --key-file");
  }
  const first = await ask("Passphrase of the backups: ", context);
  if (isNew && (await ask("Once more: ", context)) !== first) {
    throw new CommandFailure("the two passphrases differ");
  }
  return first;
}

async function ask(question: string, { stdin, stderr, signal }: CommandContext): Promise<string> {
  const nowhere = new Writable({ write: (_text, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true });
  // Only now: the terminal shows what is typed before.
  stderr.write(question);
  try {
    const [line] = (await once(lines, "line", { signal })) as [string];
    return line;
  } finally {
    lines.close();
    stderr.write("\n");
  }
}
