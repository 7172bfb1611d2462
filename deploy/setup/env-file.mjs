import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { PROJECT } from "./paths.mjs";
import { StepError } from "./step-error.mjs";

const FILE = join(PROJECT, ".env");
const EXAMPLE = join(PROJECT, ".env.example");
/** Beginnings of our names: with one of them a name that is no setting is a mistake. */
const OURS = /^(VOICE|WORKER|ADMIN|RPC_TLS|OAUTH|WEBHOOK)_/;
const SLIPS = 2;

/**
 * Reads the file .env into the environment, where what is set already wins, and warns of names in
 * it that are no settings. Node before 20.12 cannot; the supervisor on Node 22 does it again.
 */
export function loadEnvFile(screen) {
  const wanted = !isOn(process.env.VOICE_NO_ENV_FILE) && existsSync(FILE);
  if (!wanted || typeof process.loadEnvFile !== "function") return;
  try {
    const names = Object.keys(parseEnv(readFileSync(FILE, "utf8")));
    process.loadEnvFile(FILE);
    for (const warning of unknownNames(names, knownSettings())) screen.warn(warning);
  } catch (error) {
    throw new StepError(
      `.env cannot be read: ${error.message}`,
      "correct its permissions or delete it",
    );
  }
}

/** How a switch is read before anything is installed. */
export function isOn(text) {
  return ["1", "true", "yes", "on"].includes((text ?? "").trim().toLowerCase());
}

/** Every setting, as .env.example names it. */
export function knownSettings() {
  if (!existsSync(EXAMPLE)) return [];
  return [...readFileSync(EXAMPLE, "utf8").matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(
    ([, name]) => name,
  );
}

/** A sentence for each name that is no setting but looks like one. */
export function unknownNames(names, known) {
  if (known.length === 0) return [];
  return names.flatMap((name) => {
    if (known.includes(name)) return [];
    const nearest = known
      .map((each) => ({ each, slips: distance(name, each) }))
      .sort((one, other) => one.slips - other.slips)[0];
    const isNear = nearest.slips <= SLIPS && name.length > 2 * SLIPS;
    if (!isNear && !OURS.test(name)) return [];
    return [`.env: ${name} is no setting, so it has no effect; the nearest is ${nearest.each}`];
  });
}

/** Letters to put in, take out or change (Levenshtein). */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[other.length];
}
