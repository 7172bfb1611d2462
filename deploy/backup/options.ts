import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { StepError } from "../setup/step-error.mjs";

/** What `voice admin backup` and `restore` hand over. */
export interface BackupOptions {
  readonly action: "create" | "list" | "verify" | "restore";
  /** The folder of the backups. */
  readonly folder: string;
  /** The data folder that is backed up, or made. */
  readonly data: string | undefined;
  /** Of the backup; the newest otherwise. */
  readonly at: string | undefined;
  readonly passphrase: string | undefined;
  readonly keep: number | undefined;
  readonly ledgers: readonly string[];
  readonly json: boolean;
}

const ACTIONS = ["create", "list", "verify", "restore"] as const;
const MOST_KEY_BYTES = 64 * 1024;

const FLAGS = {
  data: { type: "string" },
  at: { type: "string" },
  "key-file": { type: "string" },
  "key-on-stdin": { type: "boolean" },
  keep: { type: "string" },
  ledger: { type: "string", multiple: true },
  json: { type: "boolean" },
} as const;

/** Throws a StepError. */
export function parseBackupOptions(args: string[]): BackupOptions {
  const { values, positionals } = parseArgs({ args, options: FLAGS, allowPositionals: true });
  const [given, folder] = positionals;
  const action = ACTIONS.find((each) => each === given);
  if (action === undefined || folder === undefined) {
    throw new StepError("what is to be done is not said", "voice admin backup --help shows it");
  }
  return {
    action,
    folder: resolve(folder),
    data: values.data === undefined ? undefined : resolve(values.data),
    at: values.at,
    passphrase: passphraseOf(values["key-file"], values["key-on-stdin"] === true),
    keep: values.keep === undefined ? undefined : Number(values.keep),
    ledgers: (values.ledger ?? []).map((each) => resolve(each)),
    json: values.json === true,
  };
}

function passphraseOf(file: string | undefined, isOnStdin: boolean): string | undefined {
  if (file === undefined && !isOnStdin) return undefined;
  let text: string;
  try {
    text = readFileSync(file ?? 0, "utf8");
  } catch (error) {
    throw new StepError(
      `the key file ${file} cannot be read (${(error as Error).message})`,
      "name the file that holds the passphrase of the backups",
    );
  }
  const passphrase = text.replace(/\r?\n$/, "");
  if (passphrase !== "" && text.length <= MOST_KEY_BYTES) return passphrase;
  throw new StepError(
    file === undefined
      ? "the passphrase is empty"
      : `${file} is not a key: it is empty, or too long`,
    "make one: (umask 077; openssl rand -base64 33 > backup.key)",
  );
}
