import { createHmac, hkdfSync, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { StateAddress } from "libsodium-wrappers";
import { z } from "zod";
import { StepError } from "../setup/step-error.mjs";

type Bytes = AsyncIterable<Uint8Array>;
type Sodium = typeof import("libsodium-wrappers")["default"];

/** How what is in a backup is written: as it is, or encrypted. */
export interface Encryption {
  readonly isEncrypted: boolean;
  /** Under which name content of this SHA-256 (hex) is kept. */
  nameOf(sha256: string): string;
  /** @param name what the content is: it opens under no other one */
  encrypt(name: string, content: Bytes): Bytes;
  /** Throws `DamagedCiphertext` when it is not what was encrypted under this name: cut, changed, or another. */
  decrypt(name: string, encrypted: Bytes): Bytes;
}

/** Encrypted content that was cut, changed or moved. */
export class DamagedCiphertext extends Error {}

export const UNENCRYPTED: Encryption = {
  isEncrypted: false,
  nameOf: (sha256) => sha256,
  encrypt: (_name, content) => content,
  decrypt: (_name, encrypted) => encrypted,
};

const KEY_BYTES = 32;
/** Of clear text in each encrypted part. */
const PART_BYTES = 64 * 1024;
/** Some 128 MB and half a second: what a guess at the passphrase costs. */
const COST = { N: 2 ** 17, r: 8, p: 1 };
/** A file from a stranger must not ask for any amount of memory. */
const MOST_COST = 2 ** 18;
const COST_MEMORY = 512 * 1024 * 1024;
const LEAST_CHARACTERS = 12;
const KEY_NAME = "key";

const encryptedKey = z.object({
  version: z.literal(1),
  kdf: z.literal("scrypt"),
  N: z.number().int().min(2).max(MOST_COST),
  r: z.literal(COST.r),
  p: z.literal(COST.p),
  salt: z.string(),
  key: z.string(),
});

/**
 * A new key, and the text of a file that gives it to whoever knows the passphrase.
 *
 * @param N scrypt's cost, a power of two
 */
export async function makeKey(
  passphrase: string,
  N = COST.N,
): Promise<{ encryption: Encryption; file: string }> {
  if (passphrase.length < LEAST_CHARACTERS) {
    throw new StepError(
      `a passphrase of ${passphrase.length} characters is guessed too easily`,
      `take one of at least ${LEAST_CHARACTERS}, or a file of random ones: openssl rand -base64 33`,
    );
  }
  const key = randomBytes(KEY_BYTES);
  const salt = randomBytes(16);
  const lock = await stretched(passphrase, salt, N);
  const encrypted = Buffer.concat(
    await all((await encryptionOf(lock)).encrypt(KEY_NAME, once(key))),
  );
  const file = { version: 1, kdf: "scrypt", ...COST, N, salt: salt.toString("base64") };
  const text = JSON.stringify({ ...file, key: encrypted.toString("base64") });
  return { encryption: await encryptionOf(key), file: `${text}\n` };
}

/** The key of such a file. Throws a StepError when it is damaged, or the passphrase is another. */
export async function openKey(passphrase: string, file: string): Promise<Encryption> {
  const { salt, key: encrypted, N } = readEncryptedKey(file);
  const lock = await encryptionOf(await stretched(passphrase, Buffer.from(salt, "base64"), N));
  try {
    const key = Buffer.concat(
      await all(lock.decrypt(KEY_NAME, once(Buffer.from(encrypted, "base64")))),
    );
    return await encryptionOf(key);
  } catch (error) {
    if (!(error instanceof DamagedCiphertext)) throw error;
    throw new StepError(
      "the passphrase or key file does not open these backups",
      "give the one that the first of them was made with; without it they cannot be read",
    );
  }
}

function readEncryptedKey(file: string) {
  try {
    return encryptedKey.parse(JSON.parse(file));
  } catch {
    throw new StepError(
      "the key of these backups (key.json) is damaged, or of a newer release",
      "put a copy of it back; every backup of this folder needs it",
    );
  }
}

function stretched(passphrase: string, salt: Buffer, N: number): Promise<Buffer> {
  const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
  return derive(passphrase.normalize("NFC"), salt, KEY_BYTES, { ...COST, N, maxmem: COST_MEMORY });
}

/** Loads libsodium, which only encrypted backups need. */
async function encryptionOf(key: Uint8Array): Promise<Encryption> {
  // Its functions come with `ready`, to the default export alone.
  const { default: sodium } = await import("libsodium-wrappers");
  await sodium.ready;
  const names = derived(key, "names");
  const content = derived(key, "content");
  return {
    isEncrypted: true,
    // The digest itself would tell whoever has the sound that it is here.
    nameOf: (sha256) => createHmac("sha256", names).update(sha256).digest("hex"),
    encrypt: (name, clear) => encrypted(sodium, content, name, clear),
    decrypt: (name, parts) => decrypted(sodium, content, name, parts),
  };
}

function derived(key: Uint8Array, use: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", `voice backup ${use}`, KEY_BYTES));
}

/**
 * libsodium's secret stream (XChaCha20-Poly1305): a header, then parts of one length, the last one
 * shorter or of that length and marked as the last. Each part vouches for those before it.
 */
async function* encrypted(
  sodium: Sodium,
  key: Uint8Array,
  name: string,
  clear: Bytes,
): AsyncGenerator<Uint8Array> {
  const { state, header } = sodium.crypto_secretstream_xchacha20poly1305_init_push(key);
  yield header;
  for await (const { part, isLast } of inParts(clear, PART_BYTES)) {
    const tag = isLast
      ? sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL
      : sodium.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
    yield sodium.crypto_secretstream_xchacha20poly1305_push(state, part, name, tag);
  }
}

async function* decrypted(
  sodium: Sodium,
  key: Uint8Array,
  name: string,
  stored: Bytes,
): AsyncGenerator<Uint8Array> {
  const headerBytes = sodium.crypto_secretstream_xchacha20poly1305_HEADERBYTES;
  const partBytes = PART_BYTES + sodium.crypto_secretstream_xchacha20poly1305_ABYTES;
  let state: StateAddress | undefined;
  let hasEnded = false;
  for await (const { part, isLast } of inParts(stored, partBytes, headerBytes)) {
    if (state === undefined) {
      if (part.byteLength !== headerBytes) throw new DamagedCiphertext("It was cut off.");
      state = sodium.crypto_secretstream_xchacha20poly1305_init_pull(part, key);
      continue;
    }
    const opened = pull(sodium, state, part, name);
    const isEnd = opened.tag === sodium.crypto_secretstream_xchacha20poly1305_TAG_FINAL;
    if (isEnd !== isLast) throw new DamagedCiphertext("It was cut off, or something was added.");
    hasEnded = isEnd;
    yield opened.message;
  }
  if (!hasEnded) throw new DamagedCiphertext("It was cut off.");
}

function pull(
  sodium: Sodium,
  state: StateAddress,
  part: Uint8Array,
  name: string,
): { message: Uint8Array; tag: number } {
  const least = sodium.crypto_secretstream_xchacha20poly1305_ABYTES;
  if (part.byteLength < least) throw new DamagedCiphertext("It was cut off.");
  const opened = sodium.crypto_secretstream_xchacha20poly1305_pull(state, part, name);
  if (opened === false) throw new DamagedCiphertext("It was changed, or another key encrypted it.");
  return opened;
}

/** Parts of this length, of which the last may be shorter or empty; `first` is that of the first one. */
async function* inParts(
  content: Bytes,
  length: number,
  first = length,
): AsyncGenerator<{ part: Uint8Array; isLast: boolean }> {
  let wanted = first;
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    held.push(piece);
    size += piece.byteLength;
    // One that is full waits until it is known whether it is the last.
    if (size <= wanted) continue;
    let rest: Uint8Array = Buffer.concat(held);
    while (rest.byteLength > wanted) {
      yield { part: rest.subarray(0, wanted), isLast: false };
      rest = rest.subarray(wanted);
      wanted = length;
    }
    held = [rest];
    size = rest.byteLength;
  }
  yield { part: Buffer.concat(held), isLast: true };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function all(content: Bytes): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return parts;
}
