import { hkdfSync, randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JWK } from "jose";
import { createOnce } from "../../access/secret-file.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { errorMessage } from "../../base/errors.ts";
import { importSigningKey, KeyRing } from "./key-ring.ts";
import { readSigningKeys } from "./signing-key-folder.ts";

/** Everything secret that this installation keeps outside its database. */
export interface KeyMaterial {
  ring: KeyRing;
  /** HMAC key of pairing codes at rest, 32 bytes. */
  pepper: Uint8Array;
  /** HMAC key of list cursors, 32 bytes. */
  cursorKey: Uint8Array;
  /** AES key of the webhooks' signing secrets at rest, 32 bytes; derived from the pepper. */
  webhookKey: Uint8Array;
}

const SECRET_BYTES = 32;

/**
 * Reads the keys of a folder and makes those that are missing: signing keys as
 * `signing-NNNN.jwk`, the highest number newest, and two secrets. Files have
 * mode 0600. Processes that start at once on one folder end up with the same
 * keys.
 */
export async function loadKeyFolder(
  folder: string,
  clock: Clock = systemClock,
): Promise<KeyMaterial> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const pepper = await loadSecret(join(folder, "pairing.secret"));
    return {
      ring: new KeyRing(await readSigningKeys(folder), clock),
      pepper,
      cursorKey: await loadSecret(join(folder, "cursor.secret")),
      webhookKey: deriveKey(pepper, "webhook secrets at rest"),
    };
  } catch (error) {
    throw new Error(`The key folder ${folder} cannot be used: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/**
 * Keys given as one JSON text, for sites whose processes share no folder:
 * `{"signing": [private JWKs, oldest first], "pairing_secret": …, "cursor_secret": …}`,
 * the secrets 32 bytes or more in base64url.
 */
export async function parseKeyMaterial(json: string): Promise<KeyMaterial> {
  const given: unknown = JSON.parse(json);
  if (typeof given !== "object" || given === null || !("signing" in given)) {
    throw new Error("The keys must be a JSON object with `signing`.");
  }
  const { signing, pairing_secret, cursor_secret } = given as Record<string, unknown>;
  if (!Array.isArray(signing)) throw new Error("`signing` must be a list of private JWKs.");
  const ring = await importRing(signing as JWK[]);
  const pepper = parseSecret(pairing_secret, "pairing_secret");
  return {
    ring,
    pepper,
    cursorKey: parseSecret(cursor_secret, "cursor_secret"),
    webhookKey: deriveKey(pepper, "webhook secrets at rest"),
  };
}

/** Tells two secrets apart without telling anything about them. */
export function fingerprintOf(secret: Uint8Array): string {
  return Buffer.from(deriveKey(secret, "fingerprint")).toString("base64url");
}

/** A key for one purpose (HKDF-SHA256): it tells nothing about the secret or about other keys. */
function deriveKey(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(), purpose, SECRET_BYTES));
}

async function importRing(jwks: readonly JWK[]): Promise<KeyRing> {
  return new KeyRing(await Promise.all(jwks.map(importSigningKey)));
}

async function loadSecret(path: string): Promise<Uint8Array> {
  await createOnce(path, randomBytes(SECRET_BYTES).toString("base64url"));
  return parseSecret((await readFile(path, "utf8")).trim(), path);
}

function parseSecret(text: unknown, name: string): Uint8Array {
  const bytes = Buffer.from(typeof text === "string" ? text : "", "base64url");
  if (bytes.length < SECRET_BYTES) {
    throw new Error(`${name} must be at least ${SECRET_BYTES} bytes in base64url.`);
  }
  return bytes;
}
