import { hkdfSync, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { createOnce } from "../../access/secrets.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { importSigningKey, isRetired, KeyRing, type SigningKey } from "./tokens.ts";

/** All secrets that this installation keeps outside its database. */
export interface KeyMaterial {
  ring: KeyRing;
  /** HMAC key of pairing codes at rest, 32 bytes. */
  pepper: Uint8Array;
  /** HMAC key of list cursors, 32 bytes. */
  cursorKey: Uint8Array;
  /** AES key of the webhooks' signing secrets at rest, 32 bytes; derived from the pepper. */
  webhookKey: Uint8Array;
  /** AES key of remembered voices at rest, 32 bytes; derived from the pepper. */
  voiceKey: Uint8Array;
  /** HMAC key of the digests of network addresses, 32 bytes; derived from the pepper. */
  addressKey: Uint8Array;
  /** HMAC key of the ledger of erasures, 32 bytes; derived from the pepper. */
  ledgerKey: Uint8Array;
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
      ...derivedFrom(pepper),
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
    ...derivedFrom(pepper),
  };
}

function derivedFrom(pepper: Uint8Array) {
  return {
    webhookKey: deriveKey(pepper, "webhook secrets at rest"),
    voiceKey: deriveKey(pepper, "remembered voices at rest"),
    addressKey: deriveKey(pepper, "digests of network addresses"),
    ledgerKey: deriveKey(pepper, "ledger of erasures"),
  };
}

/** A fingerprint by which secrets can be compared without revealing them. */
export function fingerprintOf(secret: Uint8Array): string {
  return Buffer.from(deriveKey(secret, "fingerprint")).toString("base64url");
}

/**
 * Derives a key for one purpose (HKDF-SHA256). It reveals neither the secret nor other derived
 * keys.
 */
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

const FILE = /^signing-(\d{4,9})\.jwk$/;
const TRIES = 10;

function fileName(number: number): string {
  return `signing-${String(number).padStart(4, "0")}.jwk`;
}

/** The names of a folder's signing keys, oldest first. */
async function signingKeyNames(folder: string): Promise<string[]> {
  const numbers = (await readdir(folder)).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  return numbers
    .map(Number)
    .sort((one, other) => one - other)
    .map(fileName);
}

/** The signing keys of a folder, oldest first; the first is made when there is none. */
async function readSigningKeys(folder: string): Promise<SigningKey[]> {
  let names = await signingKeyNames(folder);
  if (names.length === 0) {
    await createOnce(join(folder, fileName(1)), JSON.stringify(await newSigningJwk()));
    names = await signingKeyNames(folder);
  }
  return Promise.all(
    names.map(async (name) => importSigningKey(await readJwk(join(folder, name)))),
  );
}

async function readJwk(path: string) {
  return JSON.parse(await readFile(path, "utf8")) as Parameters<typeof importSigningKey>[0];
}

async function newSigningJwk() {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  return exportJWK(privateKey);
}

/**
 * Adds a signing key that signs from `signsFrom` on (Unix milliseconds), and removes keys whose
 * last token has expired. Running processes notice the new key.
 */
export async function rotateSigningKey(
  folder: string,
  signsFrom: number,
  now: number,
): Promise<SigningKey> {
  const jwk = { ...(await newSigningJwk()), nbf: Math.floor(signsFrom / 1_000) };
  const before = await readSigningKeys(folder);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const newest = (await signingKeyNames(folder)).at(-1);
    const number = Number(FILE.exec(newest ?? "")?.[1] ?? 0) + 1;
    if (await createOnce(join(folder, fileName(number)), JSON.stringify(jwk))) {
      await removeRetired(folder, before, now);
      return importSigningKey(jwk);
    }
  }
  throw new Error(`Others add keys to ${folder} all the time.`);
}

async function removeRetired(
  folder: string,
  keys: readonly SigningKey[],
  now: number,
): Promise<void> {
  const names = await signingKeyNames(folder);
  for (const [index] of keys.entries()) {
    const name = names[index];
    if (name !== undefined && isRetired(keys[index + 1]?.signsFrom, now)) {
      await rm(join(folder, name), { force: true });
    }
  }
}

const POLL_EVERY_MS = 5_000;

interface SigningKeyWatchOptions {
  folder: string;
  ring: KeyRing;
  /**
   * Called for every key but the first, at the start too, and possibly more than once for one key.
   */
  onAdded: (kid: string) => Promise<void>;
  log: Log;
}

/** Adds new keys of the folder to the ring while the process runs. */
export class SigningKeyWatch {
  readonly #options: SigningKeyWatchOptions;
  #names = "";
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SigningKeyWatchOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#options.ring.refreshWith(() => this.refresh());
    await this.refresh();
    this.#timer = setInterval(() => void this.refresh(), POLL_EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#refreshing;
  }

  /** Never rejects: when the folder cannot be read, the keys stay as they are. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh()
      .catch((error: unknown) => {
        this.#options.log.error({ error: errorMessage(error) }, "signing keys cannot be read");
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const { folder, log, onAdded, ring } = this.#options;
    const names = (await signingKeyNames(folder)).join();
    if (names === this.#names) return;
    const keys = await readSigningKeys(folder);
    const fresh = keys.filter((key) => ring.get(key.kid) === undefined);
    ring.replace(keys);
    for (const { kid } of fresh) log.info({ kid }, "a signing key was added");
    for (const { kid } of keys.slice(1)) await onAdded(kid);
    // Set last, so that after a failure the next poll tries again.
    this.#names = names;
  }
}
