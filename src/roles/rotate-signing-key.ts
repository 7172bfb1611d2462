import { parseArgs } from "node:util";
import { toTimestamp } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import { rotateSigningKey } from "../tenancy/accounts/signing-keys.ts";

/**
 * `node src/rotate-signing-key.ts <key folder> [--at-once]`: adds a key that signs tokens from 6
 * min on, so that clients that cache the key set for its 5 min know it by then; or at once, when
 * the previous key has leaked. Running processes need no restart.
 */
const ANNOUNCE_MS = 6 * 60_000;

try {
  const { values, positionals } = parseArgs({
    options: { "at-once": { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1) throw new Error("Give one key folder.");
  const now = Date.now();
  const from = values["at-once"] ? now : now + ANNOUNCE_MS;
  const { kid, signsFrom } = await rotateSigningKey(folder, from, now);
  const line = { event: "signing_key_rotated", kid, signs_from: toTimestamp(signsFrom) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
} catch (error) {
  process.stderr.write(`The signing key was not rotated: ${errorMessage(error)}\n`);
  process.exitCode = 1;
}
