import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { StepError } from "../setup/step-error.mjs";
import { writeAtomically } from "./write-atomically.ts";

/** Passwords of this data folder, made once and kept in a file that only its owner can read. */
export interface Secrets {
  readonly postgresPassword: string;
  readonly ownerPassword: string;
  readonly servicePassword: string;
  readonly natsToken: string;
  readonly workerKey: string;
  readonly adminPassword: string;
}

const NAMES = [
  "postgresPassword",
  "ownerPassword",
  "servicePassword",
  "natsToken",
  "workerKey",
  "adminPassword",
] as const satisfies readonly (keyof Secrets)[];

// without letters and digits that look alike
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";

export function loadSecrets(file: string): Secrets {
  const known = readSecrets(file);
  const secrets: Secrets = {
    postgresPassword: known.postgresPassword ?? token(),
    ownerPassword: known.ownerPassword ?? token(),
    servicePassword: known.servicePassword ?? token(),
    natsToken: known.natsToken ?? token(),
    workerKey: known.workerKey ?? token(),
    adminPassword: known.adminPassword ?? typeablePassword(),
  };
  writeAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`, 0o600);
  return secrets;
}

function readSecrets(file: string): Partial<Record<keyof Secrets, string>> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return {};
  }
  try {
    const content: Record<string, unknown> = JSON.parse(text);
    const pairs = NAMES.map((name) => [name, content[name]] as const);
    return Object.fromEntries(pairs.filter(([, value]) => typeof value === "string" && value));
  } catch {
    throw new StepError(
      `${file} is damaged, and without it the database cannot be opened`,
      "restore it from a backup, or start anew with --fresh (deletes all sessions)",
    );
  }
}

function token(): string {
  return randomBytes(24).toString("base64url");
}

/** Four groups of four from 31 signs: 79 bits, and still possible to type. */
function typeablePassword(): string {
  const groups = Array.from({ length: 4 }, () => Array.from({ length: 4 }, randomSign).join(""));
  return groups.join("-");
}

function randomSign(): string {
  for (;;) {
    const byte = randomBytes(1)[0] ?? 255;
    const sign = ALPHABET[byte % ALPHABET.length];
    if (byte < 256 - (256 % ALPHABET.length) && sign) return sign;
  }
}
