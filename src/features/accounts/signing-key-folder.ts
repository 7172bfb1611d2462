import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { createOnce } from "../../access/secret-file.ts";
import { importSigningKey, isRetired, type SigningKey } from "./key-ring.ts";

const FILE = /^signing-(\d{4,9})\.jwk$/;
const TRIES = 10;

function fileName(number: number): string {
  return `signing-${String(number).padStart(4, "0")}.jwk`;
}

/** The names of a folder's signing keys, oldest first. */
export async function signingKeyNames(folder: string): Promise<string[]> {
  const numbers = (await readdir(folder)).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  return numbers
    .map(Number)
    .sort((one, other) => one - other)
    .map(fileName);
}

/** The signing keys of a folder, oldest first; the first is made when there is none. */
export async function readSigningKeys(folder: string): Promise<SigningKey[]> {
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
 * Adds a signing key that signs from `signsFrom` on (Unix milliseconds), and
 * removes those whose last token has run out. Running processes find it by
 * themselves.
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
